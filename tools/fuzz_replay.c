// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a fuzz target over files instead of random bytes: replay FILE_OR_FOLDER...
// `make check` calls it with test/corpus/<target>, so each input that once broke us stays tested.
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS_PER_FILE = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static const char *current = "(empty input)";
static unsigned files;

static void on_crash(int sig)
{
	const char *what = sig == SIGALRM ? "takes too long: " : "crashes: ";

	if (write(2, what, strlen(what)) < 0 || write(2, current, strlen(current)) < 0 ||
	    write(2, "\n", 1) < 0)
		_exit(2);
	signal(sig, SIG_DFL);
	raise(sig);
	_exit(1);
}

static void run_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data =
		malloc(size ? size : 1); // exact, so that a sanitizer sees reads behind the end

	if (!f || !data || fread(data, 1, size, f) != size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	current = path;
	alarm(SECONDS_PER_FILE);
	LLVMFuzzerTestOneInput(data, size);
	alarm(0);
	free(data);
	files++;
}

static void run_path(const char *path)
{
	struct dirent **entries;
	struct stat st;
	int n;

	if (stat(path, &st) < 0) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		run_file(path, (size_t)st.st_size);
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *child;

		if (entries[i]->d_name[0] != '.') {
			if (asprintf(&child, "%s/%s", path, entries[i]->d_name) < 0)
				abort();
			run_path(child);
			free(child);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int main(int argc, char **argv)
{
	static const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], on_crash);
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	printf("ok no bytes, and %u file%s\n", files, files == 1 ? "" : "s");
	return 0;
}
