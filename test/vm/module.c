// SPDX-License-Identifier: GPL-2.0-or-later
// A module of the kernel that works when its device is written to. What it is given and gives back is known: see test/vm/module.
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

struct work_order {
	int id;
	unsigned int rounds;
	char name[16];
};

static volatile unsigned long sink;

static __always_inline unsigned long mix(unsigned long x)
{
	x ^= x >> 13;
	x *= 0x9e3779b97f4a7c15ul;
	return x ^ x >> 7;
}

// Emulated processors are interrupted where a loop begins again, so that is what is inlined.
static __always_inline unsigned long spin(unsigned long from, unsigned int rounds)
{
	unsigned int i;

	for (i = 0; i < rounds; i++)
		from = mix(from + i); // where samples are
	return from;
}

noinline unsigned long work_leaf(unsigned long from, unsigned int rounds)
{
	return spin(from, rounds); // the inlined call
}

// The compiler makes another function of it, with another name.
static noinline long work_middle(struct work_order *order, long start)
{
	sink += work_leaf(start, order->rounds);
	return order->id + start;
}

noinline __attribute__((__noclone__)) long work_outer(struct work_order *order, unsigned int size)
{
	long result = work_middle(order, size * 100l);

	barrier(); // no jump there
	return result + order->id;
}

static ssize_t work_write(struct file *file, const char __user *text, size_t n, loff_t *at)
{
	struct work_order order = {.id = 7, .rounds = n * n * 1000};

	if (n < 2 || n > sizeof(order.name) || copy_from_user(order.name, text, n))
		return -EINVAL;
	order.name[n - 1] = 0;
	sink += work_outer(&order, n);
	sink += order.id; // the order is on the stack
	return n;
}

static const struct file_operations work_operations = {
	.owner = THIS_MODULE,
	.write = work_write,
};
static struct miscdevice work_device = {MISC_DYNAMIC_MINOR, "sonde-work", &work_operations};

static int __init work_start(void)
{
	return misc_register(&work_device);
}

static void __exit work_end(void)
{
	misc_deregister(&work_device);
}

module_init(work_start);
module_exit(work_end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("works when its device is written to");
