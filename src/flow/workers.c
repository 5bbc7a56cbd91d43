// SPDX-License-Identifier: GPL-2.0-or-later
// All that the processes share lies in one mapping: the number of the next piece that nobody has taken, that of the next one to be written
// (the turn), and for each process some slots of bytes, into which it writes what a piece becomes. Whoever has finished a piece writes
// what is ready in order, unless another process does so just then; so nobody waits for a turn as long as there is room.
#include "flow/workers.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
	PIECES = 2048, // that may wait for their turn
	SLOTS = 4,     // of each process
	SLOT_LEAST = 1 << 20,
	SLOT_MOST = 16 << 20,
	NO_SLOT = UINT16_MAX,
	MOST_RECORDS = 1024, // of a piece: what follows each other is often of the same programs
	MESSAGES = 512,	     // different ones that are told apart
	MOST_BY_ITSELF = 16, // reading is done by each: more of them would only make heat
	PATIENCE_NS = 20000000,
};
// What must have been done, and must be left, and be left for each: to make a process and to share memory with it costs 1 to 3 ms.
static const uint64_t WORKED_NS = 10000000, LEFT_NS = 50000000, LEFT_EACH_NS = 20000000;

// What a piece became.
struct piece {
	_Atomic uint64_t ready;		     // its number + 1
	uint32_t slot;			     // of all
	int err;			     // the work ends behind it
	uint32_t text_n, said_n, sentence_n; // bytes there, in this order
};

struct message {
	uint64_t hash;
	uint32_t told;
};

struct shared {
	_Atomic uint64_t next, turn;
	_Atomic bool waits[WORKERS_MOST * SLOTS]; // what is in the slot waits for its turn
	_Atomic uint32_t news, waiting;		  // futex: moves with the turn; who waits for it
	_Atomic uint32_t done;			  // other workers that have come to the end
	_Atomic bool writing, ended;
	bool answers;
	_Atomic int err, out_err;
	_Atomic uint64_t written_bytes;
	char sentence[ERR_SENTENCE_SIZE];
	struct message messages[MESSAGES]; // of who writes
	struct piece pieces[PIECES];
};

struct worker {
	pid_t pid; // 0: it is gone
	int findings_fd;
};

struct workers_private {
	struct shared *shared;
	char *slots;
	size_t slot_size;
	struct out before, *out; // options.out as it was; what is written to
	size_t mapped_n;
	struct worker others[WORKERS_MOST]; // from 1; of the first worker
	uint32_t n, me;
	pid_t parent;
	uint32_t slot;	// in use, of all
	uint64_t piece; // at hand
	uint64_t piece_records;
	uint64_t began_ns, looked_ns, looked_records; // when the speed was looked at last
	double record_ns;
	struct out said, coded;
	struct message own[MESSAGES]; // how often this process said it
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static unsigned cpus_allowed(void)
{
	cpu_set_t set;

	// More CPUs than the set has room for: plenty.
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return MOST_BY_ITSELF;
	return (unsigned)CPU_COUNT(&set);
}

struct workers *workers_new(const struct workers_options *options)
{
	struct workers *workers;
	unsigned jobs = options->jobs ? options->jobs : MIN(cpus_allowed(), (unsigned)MOST_BY_ITSELF);

	if (jobs < 2)
		return NULL;
	workers = NEW(struct workers);
	workers->options = *options;
	workers->mine = true;
	workers->private = NEW(struct workers_private);
	workers->private->n = MIN(jobs, (unsigned)WORKERS_MOST);
	workers->private->began_ns = workers->private->looked_ns = cpu_ns();
	return workers;
}

void workers_free(struct workers *workers)
{
	if (!workers)
		return;
	if (workers->private->shared)
		munmap(workers->private->shared, workers->private->mapped_n);
	out_done(&workers->private->said);
	out_done(&workers->private->coded);
	free(workers->private);
	free(workers);
}

bool workers_have_begun(const struct workers *workers)
{
	return workers->private->shared != NULL;
}

// By the later half of the records: the first ones bring in the symbols.
static uint64_t left_ns(struct workers *workers, uint64_t left_records)
{
	struct workers_private *p = workers->private;
	uint64_t now = cpu_ns();

	if (workers->records >= 2 * p->looked_records) {
		p->record_ns = (double)(now - p->looked_ns) /
			       (double)(workers->records - p->looked_records);
		p->looked_records = workers->records;
		p->looked_ns = now;
	}
	return (uint64_t)(p->record_ns * (double)left_records);
}

bool workers_pay(struct workers *workers, uint64_t left_records)
{
	enum { LOOK_EVERY = 256, ENOUGH_TO_TELL = 2048 }; // records
	uint64_t left, worked;

	if (workers->options.jobs)
		return true;
	if (workers->records % LOOK_EVERY)
		return false;
	left = left_ns(workers, left_records);
	worked = cpu_ns() - workers->private->began_ns;
	return worked > WORKED_NS && left > LEFT_NS &&
	       (workers->records >= ENOUGH_TO_TELL || worked > 10 * WORKED_NS);
}

static void tell_news(struct shared *s)
{
	s->news++;
	if (s->waiting)
		syscall(SYS_futex, &s->news, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void stop(struct shared *s, int err, const char *sentence)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&s->err, &none, err))
		snprintf(s->sentence, sizeof(s->sentence), "%s", sentence);
	s->ended = true;
	tell_news(s);
}

static void worker_is_gone(struct workers_private *p, struct worker *worker, int status)
{
	char sentence[256];

	worker->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	if (WIFSIGNALED(status))
		snprintf(sentence, sizeof(sentence),
			 "a process that shared the work was ended by signal %d (%s), so the rest is missing; -j 1 works in one process",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(sentence, sizeof(sentence),
			 "a process that shared the work gave up with status %d, so the rest is missing; -j 1 works in one process",
			 WEXITSTATUS(status));
	stop(p->shared, -ECHILD, sentence);
}

static void look_after_others(struct workers_private *p)
{
	int status;

	if (p->me) {
		if (getppid() != p->parent)
			_exit(1);
		return;
	}
	for (uint32_t i = 1; i < p->n; i++) {
		struct worker *worker = &p->others[i];

		if (worker->pid && waitpid(worker->pid, &status, WNOHANG) == worker->pid)
			worker_is_gone(p, worker, status);
	}
}

// Until there is news since `seen`, or a while.
static void wait_for_news(struct workers_private *p, uint32_t seen)
{
	struct timespec patience = {.tv_nsec = PATIENCE_NS};
	struct shared *s = p->shared;

	s->waiting++;
	if (syscall(SYS_futex, &s->news, FUTEX_WAIT, seen, &patience, NULL, 0) < 0 &&
	    errno == ETIMEDOUT)
		look_after_others(p);
	s->waiting--;
}

static bool lock(struct shared *s)
{
	bool writing = false;

	return atomic_compare_exchange_strong(&s->writing, &writing, true);
}

static void unlock(struct shared *s)
{
	s->writing = false;
	if (s->waiting)
		tell_news(s);
}

static struct message *message_of(struct message *messages, struct str line)
{
	uint64_t hash = hash_bytes(line.p, line.n) | 1;

	for (size_t i = 0; i < MESSAGES; i++) {
		struct message *message = &messages[(hash + i) % MESSAGES];

		if (!message->hash)
			message->hash = hash;
		if (message->hash == hash)
			return message;
	}
	return NULL;
}

// What a process says when it comes across something for the first time, each of them says once.
static void tell_messages(struct shared *s, struct str coded)
{
	while (coded.n) {
		struct message *message;
		struct str line;
		uint32_t head[2]; // how often the process has said it; bytes

		memcpy(head, coded.p, sizeof(head));
		line = (struct str){coded.p + sizeof(head), head[1]};
		coded.p += sizeof(head) + line.n;
		coded.n -= sizeof(head) + line.n;
		message = message_of(s->messages, line);
		if (message && message->told >= head[0])
			continue;
		if (message)
			message->told++;
		write_all(STDERR_FILENO, line.p, line.n);
	}
}

// Each line with how often this process said it, also where the piece was not its own.
static void code_messages(struct workers_private *p)
{
	struct str rest = {p->said.buf, p->said.n};

	p->coded.n = 0;
	while (rest.n) {
		const char *end = memchr(rest.p, '\n', rest.n);
		struct str line = {rest.p, end ? (size_t)(end + 1 - rest.p) : rest.n};
		struct message *message = message_of(p->own, line);
		uint32_t head[2] = {message ? ++message->told : UINT32_MAX, (uint32_t)line.n};

		out_bytes(&p->coded, head, sizeof(head));
		out_str(&p->coded, line);
		rest = (struct str){line.p + line.n, rest.n - line.n};
	}
	p->said.n = 0;
}

// A piece's bytes, in the order in which they lie behind each other.
struct parts {
	struct str text, coded, sentence;
};

// The piece whose turn it is; by who has the lock.
static void write_piece(struct workers_private *p, const struct parts *parts, int err)
{
	struct shared *s = p->shared;
	int out_err;

	tell_messages(s, parts->coded);
	out_err = parts->text.n ? write_all(p->before.fd, parts->text.p, parts->text.n) : 0;
	if (out_err) {
		s->out_err = out_err;
		s->ended = true;
	} else {
		s->written_bytes += parts->text.n;
	}
	if (err) {
		char sentence[ERR_SENTENCE_SIZE] = "";

		memcpy(sentence, parts->sentence.p, parts->sentence.n);
		stop(s, err, sentence);
	}
	s->turn++;
	tell_news(s);
}

static bool is_ready(struct shared *s)
{
	return !s->ended && s->pieces[s->turn % PIECES].ready == s->turn + 1;
}

static struct parts parts_of(const char *bytes, const struct piece *piece)
{
	const char *coded = bytes + piece->text_n, *sentence = coded + piece->said_n;

	return (struct parts){{bytes, piece->text_n},
			      {coded, piece->said_n},
			      {sentence, piece->sentence_n}};
}

static void write_ready(struct workers_private *p)
{
	struct shared *s = p->shared;

	while (!s->answers && is_ready(s) && lock(s)) {
		while (is_ready(s)) {
			const struct piece *piece = &s->pieces[s->turn % PIECES];
			const struct parts parts =
				parts_of(p->slots + piece->slot * p->slot_size, piece);
			uint32_t slot = piece->slot;

			write_piece(p, &parts, piece->err);
			s->waits[slot] = false;
		}
		unlock(s);
	}
}

// The writer gets an empty slot of this process; false: there is none.
static bool use_slot(struct workers_private *p, struct out *out)
{
	if (!out->borrowed) { // it had to grow
		free(out->buf);
		out->buf = NULL;
		out->n = out->capacity = 0;
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		p->slot = p->me * SLOTS + i;
		if (p->shared->waits[p->slot])
			continue;
		out->buf = p->slots + p->slot * p->slot_size;
		out->capacity = p->slot_size;
		out->n = 0;
		out->borrowed = true;
		return true;
	}
	return false;
}

// What the piece became goes out when it is its turn, at once or later. Answers need not.
static void hand_over(struct workers *workers, const struct piece *made)
{
	struct workers_private *p = workers->private;
	struct out *out = p->out;
	bool answers = workers->is_asked;
	struct shared *s = p->shared;
	struct piece *piece = &s->pieces[p->piece % PIECES];

	while (!s->ended) {
		uint32_t seen = s->news;

		if (!answers && s->turn == p->piece && lock(s)) {
			const struct parts parts = parts_of(out->buf, made);

			write_piece(p, &parts, made->err);
			unlock(s);
			return;
		}
		if (out->borrowed || answers) {
			piece->slot = out->borrowed ? p->slot : (uint32_t)NO_SLOT;
			piece->err = made->err;
			piece->text_n = made->text_n;
			piece->said_n = made->said_n;
			piece->sentence_n = made->sentence_n;
			s->waits[p->slot] = out->borrowed;
			piece->ready = p->piece + 1;
			if (answers)
				tell_news(s);
			return;
		}
		write_ready(p);
		wait_for_news(p, seen);
	}
}

static void finish_piece(struct workers *workers, int err)
{
	struct workers_private *p = workers->private;
	struct shared *s = p->shared;
	struct out *out = p->out;

	code_messages(p);
	if (workers->mine) {
		const char *sentence = err < 0 ? err_sentence() : "";
		const struct piece made = {.err = err,
					   .text_n = (uint32_t)out->n,
					   .said_n = (uint32_t)p->coded.n,
					   .sentence_n = (uint32_t)strlen(sentence)};

		out_bytes(out, p->coded.buf, p->coded.n);
		out_text(out, sentence);
		hand_over(workers, &made);
	}
	write_ready(p);
	while (!use_slot(p, out) && !s->ended) {
		uint32_t seen = s->news;

		write_ready(p);
		if (s->waits[p->slot])
			wait_for_news(p, seen);
	}
}

static bool take_piece(struct workers_private *p)
{
	struct shared *s = p->shared;
	uint64_t next = p->piece;

	while (!s->ended) {
		uint32_t seen = s->news;

		if (p->piece < s->turn + PIECES)
			return atomic_compare_exchange_strong(&s->next, &next, next + 1);
		write_ready(p);
		wait_for_news(p, seen);
	}
	return false;
}

// The first process has come to the end of a piece, or to the beginning of the next one, and the others answer.
static void pass_piece(struct workers *workers)
{
	struct workers_private *p = workers->private;

	code_messages(p);
	tell_messages(p->shared, (struct str){p->coded.buf, p->coded.n});
	if (workers->given.p)
		p->shared->waits[p->slot] = false;
	workers->given = (struct str){0};
	p->shared->turn++;
	tell_news(p->shared);
}

static void take_given(struct workers *workers)
{
	struct workers_private *p = workers->private;
	const struct piece *piece = &p->shared->pieces[p->piece % PIECES];
	struct parts parts;

	if (take_piece(p))
		return;
	while (!p->shared->ended && piece->ready != p->piece + 1) {
		uint32_t seen = p->shared->news;

		if (piece->ready != p->piece + 1)
			wait_for_news(p, seen);
	}
	if (p->shared->ended || piece->slot == NO_SLOT)
		return;
	p->slot = piece->slot;
	parts = parts_of(p->slots + p->slot * p->slot_size, piece);
	tell_messages(p->shared, parts.coded);
	workers->given = parts.text;
	workers->given_n++;
}

int workers_next(struct workers *workers)
{
	struct workers_private *p = workers->private;

	if (workers->records % p->piece_records)
		return 0;
	if (!p->me && p->piece % 16 == 0)
		look_after_others(p);
	if (!p->me && p->shared->answers) {
		pass_piece(workers);
		p->piece++;
		take_given(workers);
	} else {
		finish_piece(workers, 0);
		p->piece++;
		workers->mine = take_piece(p);
	}
	return p->shared->ended;
}

// The others are so few that each process can still open the programs' files.
static bool leaves_files(int fd)
{
	enum { SPARE_FILES = 64 };
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > (rlim_t)fd + SPARE_FILES;
}

static bool start_worker(struct workers_private *p, uint32_t i)
{
	int fd = memfd_create("findings", MFD_CLOEXEC);
	pid_t pid;

	if (fd < 0)
		return false;
	p->others[i].findings_fd = fd;
	pid = leaves_files(fd) ? fork() : -1;
	if (pid < 0) {
		close(fd);
		return false;
	}
	if (pid) {
		p->others[i].pid = pid;
		return true;
	}
	p->me = i;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != p->parent)
		_exit(1);
	return true;
}

// Several for each process, so that all end at about the same time.
static uint64_t piece_records(uint64_t left_each)
{
	enum { PIECES_EACH = 8 };
	uint64_t steps = MIN(left_each / PIECES_EACH, (uint64_t)MOST_RECORDS) / WORKERS_STEP;

	return MAX(steps, (uint64_t)1) * WORKERS_STEP;
}

// Twice what a piece was so far. Those that are longer wait for their turn in the memory of who made them.
static size_t slot_size(uint64_t piece_bytes)
{
	return MIN(MAX(piece_bytes * 2, (uint64_t)SLOT_LEAST), (uint64_t)SLOT_MOST) & ~(uint64_t)4095;
}

void workers_begin(struct workers *workers, uint64_t left_records)
{
	struct workers_private *p = workers->private;
	struct out *out = workers->options.out;
	uint32_t n = p->n, i;
	size_t size;
	void *mapped;

	if (!workers->options.jobs)
		n = (uint32_t)MIN(n, 1 + left_ns(workers, left_records) / LEFT_EACH_NS);
	if (n < 2 || (out && out_flush(out)))
		return;
	p->piece_records = piece_records(left_records / n);
	p->slot_size = slot_size(out ? out->written_bytes / workers->records * p->piece_records : 0);
	size = sizeof(*p->shared) + (size_t)n * SLOTS * p->slot_size;
	mapped = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapped == MAP_FAILED) {
		p->n = 1; // nor is there room for it later
		return;
	}
	p->piece = workers->records / p->piece_records;
	p->shared = mapped;
	p->shared->next = p->shared->turn = p->piece;
	p->slots = (char *)(p->shared + 1);
	p->mapped_n = size;
	p->parent = getpid();
	p->shared->answers = !out;
	for (i = 1; i < n && !p->me && start_worker(p, i); i++)
		;
	p->n = i;
	workers->is_asked = p->me && !out;
	p->out = out ? out : &workers->answers;
	p->before = *p->out;
	p->out->fd = -1;
	p->out->borrowed = true;
	use_slot(p, p->out);
	out_init_memory(&p->said);
	out_init_memory(&p->coded);
	log_divert(&p->said);
	if (!p->me && !out)
		take_given(workers);
	else
		workers->mine = take_piece(p);
}

static void __attribute__((noreturn)) end_other(struct workers *workers)
{
	struct workers_private *p = workers->private;
	struct out findings;

	out_init_memory(&findings);
	if (!p->shared->ended && workers->options.put_findings)
		workers->options.put_findings(workers->options.arg, &findings);
	if (write_all(p->others[p->me].findings_fd, findings.buf, findings.n))
		_exit(1);
	p->shared->done++;
	tell_news(p->shared);
	_exit(0);
}

static void wait_for_others(struct workers_private *p)
{
	struct shared *s = p->shared;
	int status;

	while (!s->ended && s->done < p->n - 1) {
		uint32_t seen = s->news;

		write_ready(p);
		if (s->done < p->n - 1)
			wait_for_news(p, seen);
	}
	for (uint32_t i = 1; i < p->n; i++) {
		struct worker *worker = &p->others[i];

		if (!worker->pid)
			continue;
		if (s->ended)
			kill(worker->pid, SIGKILL);
		while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
			;
		if (s->ended)
			worker->pid = 0;
		else
			worker_is_gone(p, worker, status);
	}
	s->writing = false;
	write_ready(p);
}

static void take_findings(struct workers *workers)
{
	struct workers_private *p = workers->private;

	for (uint32_t i = 1; i < p->n; i++) {
		struct mapped findings;

		if (!p->shared->ended && workers->options.take_findings &&
		    file_map_fd(&findings, p->others[i].findings_fd, "findings") >= 0) {
			workers->options.take_findings(workers->options.arg,
						       (struct str){(const char *)findings.p,
								    findings.n});
			file_unmap(&findings);
		}
		close(p->others[i].findings_fd);
	}
}

// Nothing more is asked.
static int end_asking(struct workers *workers, int err)
{
	struct workers_private *p = workers->private;

	pass_piece(workers);
	log_divert(NULL);
	p->shared->ended = true;
	wait_for_others(p);
	take_findings(workers);
	return p->shared->err < 0 ? fail_again(p->shared->err, p->shared->sentence) : err;
}

int workers_end(struct workers *workers, int err)
{
	struct workers_private *p = workers->private;
	struct shared *s = p->shared;

	if (!s)
		return err;
	if (!p->me && s->answers)
		return end_asking(workers, err);
	finish_piece(workers, err);
	if (p->me)
		end_other(workers);
	wait_for_others(p);
	take_findings(workers);
	log_divert(NULL);
	if (!p->out->borrowed)
		free(p->out->buf);
	*p->out = p->before;
	p->out->error = s->out_err;
	p->out->written_bytes += s->written_bytes;
	if (s->err < 0)
		return fail_again(s->err, s->sentence);
	return s->ended;
}
