// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write to kernel text from every CPU at once, while every CPU runs it.
 *
 * Each CPU has a thread that does nothing but write: a static key of this
 * module, a static key of the kernel image, a kprobe on the image, and a BPF
 * program, in turn. When the function that wrote returns, every CPU has to run
 * the new text: each is made to, and says what it ran. Between these calls a
 * second thread of each CPU runs all the functions that are being patched.
 *
 * The work is done when "rounds" is written to, not by init, since the text of a
 * module is replicated only after that. It fails with -EIO if any CPU sees old
 * text.
 *
 * QEMU before 8.1 may translate an instruction just before it is written and keep
 * the translation, on base as well. So a CPU that runs old text is asked what it
 * reads there, and only two looks and one in 20 may be of that kind: a node without
 * the new text would be many more.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/filter.h>
#include <linux/gfp.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>

/* Each writer has a key of its own; the branch is code of its own, too. */
#define MAX_WRITERS	8
#define HITS_EACH	3
#define ARGUMENT	1234567890UL
#define ROOT		35136UL
#define FILL		0xa5
/* Of the first instructions of a function one is patched. */
#define NR_INSNS	16
#define STALE_ANYWAY	2
#define STALE_EACH	20

DEFINE_STATIC_KEY_ARRAY_FALSE(keys, MAX_WRITERS);

/* Aligned, or the first instructions of one were those of the next as well. */
#define BRANCH(n)						\
static noinline __aligned(4 * NR_INSNS)				\
long branch##n(void *unused)					\
{								\
	if (static_branch_unlikely(&keys[n]))			\
		return 1;					\
	return 0;						\
}

BRANCH(0) BRANCH(1) BRANCH(2) BRANCH(3)
BRANCH(4) BRANCH(5) BRANCH(6) BRANCH(7)

static long (* const branches[MAX_WRITERS])(void *unused) = {
	branch0, branch1, branch2, branch3, branch4, branch5, branch6, branch7,
};

/* Of these there is one in the kernel, which all writers take turns with. */
static DEFINE_MUTEX(image_key_mutex);
static DEFINE_MUTEX(probe_mutex);
static DEFINE_PER_CPU(unsigned long, probe_hits);

static atomic_t nr_looks;
static atomic_t nr_stale;

/* Text that is about to be written, as it was. */
struct snapshot {
	const void *text;
	u32 insns[NR_INSNS];
};

static void take(struct snapshot *snapshot, const void *text)
{
	snapshot->text = text;
	memcpy(snapshot->insns, text, sizeof(snapshot->insns));
}

static long reads_old(void *data)
{
	const struct snapshot *before = data;

	return !memcmp(before->text, before->insns, sizeof(before->insns));
}

/* Run @look on each CPU; @before may be NULL if nobody knows where text is. */
static int look_everywhere(long (*look)(void *data), void *data, long expected,
			   struct snapshot *before, const char *what)
{
	int cpu, ret = 0;
	long seen;

	for_each_online_cpu(cpu) {
		seen = work_on_cpu(cpu, look, data);
		atomic_inc(&nr_looks);
		if (seen == expected)
			continue;
		if (seen < 0) {
			ret = seen;
		} else if (before && work_on_cpu(cpu, reads_old, before)) {
			pr_err("CPU %d reads old text: %s\n", cpu, what);
			ret = -EIO;
		} else {
			pr_info("CPU %d runs old text: %s\n", cpu, what);
			atomic_inc(&nr_stale);
		}
	}

	return ret;
}

static int write_module_key(int writer)
{
	struct static_key_false *key = &keys[writer % MAX_WRITERS];
	long (*branch)(void *unused) = branches[writer % MAX_WRITERS];
	struct snapshot before;
	int ret;

	take(&before, branch);
	static_branch_enable(key);
	ret = look_everywhere(branch, NULL, 1, &before, "module key on");
	take(&before, branch);
	static_branch_disable(key);

	return ret ?: look_everywhere(branch, NULL, 0, &before,
				      "module key off");
}

/* Whether the allocator, which is image text, clears a page that was not. */
static long page_is_clear(void *unused)
{
	struct page *page;
	long clear;
	int i;

	for (i = 0; i < 2; i++) {
		page = alloc_page(GFP_KERNEL);
		if (!page)
			return -ENOMEM;
		clear = !memchr_inv(page_address(page), 0, PAGE_SIZE);
		/* The next one is likely to be the same page. */
		memset(page_address(page), FILL, PAGE_SIZE);
		__free_page(page);
	}

	return clear;
}

static int write_image_key(void)
{
	int ret;

	mutex_lock(&image_key_mutex);
	static_branch_enable(&init_on_alloc);
	ret = look_everywhere(page_is_clear, NULL, 1, NULL, "image key on");
	static_branch_disable(&init_on_alloc);
	mutex_unlock(&image_key_mutex);

	return ret;
}

static int count_hit(struct kprobe *probe, struct pt_regs *regs)
{
	/* Of the one call that is counted, whatever the others are for. */
	if (regs->regs[0] == ARGUMENT)
		this_cpu_inc(probe_hits);
	return 0;
}

static long hit_probe(void *unused)
{
	unsigned long before = this_cpu_read(probe_hits);
	int i;

	for (i = 0; i < HITS_EACH; i++)
		if (int_sqrt(ARGUMENT) != ROOT)
			return -EIO;

	return this_cpu_read(probe_hits) - before;
}

static int write_probe(void)
{
	struct kprobe probe = {
		.symbol_name = "int_sqrt",
		.pre_handler = count_hit,
	};
	struct snapshot before;
	int ret;

	mutex_lock(&probe_mutex);
	take(&before, int_sqrt);
	ret = register_kprobe(&probe);
	if (ret) {
		pr_err("no kprobe: %d\n", ret);
		goto unlock;
	}
	ret = look_everywhere(hit_probe, NULL, HITS_EACH, &before, "probe set");
	take(&before, int_sqrt);
	unregister_kprobe(&probe);
	if (!ret)
		ret = look_everywhere(hit_probe, NULL, 0, &before,
				      "probe removed");
unlock:
	mutex_unlock(&probe_mutex);

	return ret;
}

static long run_program(void *data)
{
	static const u64 unused;
	u32 value;

	preempt_disable();
	value = bpf_prog_run(data, &unused);
	preempt_enable();

	return value;
}

static int write_program(int writer)
{
	const struct bpf_insn insns[] = {
		BPF_MOV64_IMM(BPF_REG_0, 0x600d + writer),
		BPF_EXIT_INSN(),
	};
	struct bpf_prog *prog;
	int ret = 0;

	prog = bpf_prog_alloc(bpf_prog_size(ARRAY_SIZE(insns)), 0);
	if (!prog)
		return -ENOMEM;
	prog->len = ARRAY_SIZE(insns);
	prog->type = BPF_PROG_TYPE_SOCKET_FILTER;
	memcpy(prog->insnsi, insns, sizeof(insns));
	prog = bpf_prog_select_runtime(prog, &ret);
	if (!ret && !prog->jited) {
		pr_err("the program was not compiled\n");
		ret = -ENOEXEC;
	}
	if (!ret)
		ret = look_everywhere(run_program, prog, 0x600d + writer, NULL,
				      "program");
	bpf_prog_free(prog);

	return ret;
}

struct worker {
	struct task_struct *writer;
	struct task_struct *runner;
	struct completion done;
	unsigned int rounds;
	int cpu;
	int ret;
};

static int write_text(void *data)
{
	struct worker *worker = data;

	while (!worker->ret && worker->rounds--) {
		worker->ret = write_module_key(worker->cpu);
		if (!worker->ret)
			worker->ret = write_image_key();
		if (!worker->ret)
			worker->ret = write_probe();
		if (!worker->ret)
			worker->ret = write_program(worker->cpu);
	}
	complete(&worker->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);

	return 0;
}

static int run_text(void *data)
{
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < MAX_WRITERS; i++)
			branches[i](NULL);
		if (int_sqrt(ARGUMENT + 1) != ROOT)
			pr_err("CPU %d computes nonsense\n",
			       raw_smp_processor_id());
		/* Slower than the writers, of which there is one per CPU. */
		usleep_range(50, 100);
	}

	return 0;
}

static struct task_struct *start(int (*function)(void *data), void *data,
				 int cpu)
{
	struct task_struct *task;

	task = kthread_create_on_cpu(function, data, cpu, "ktext/%u");
	if (IS_ERR(task))
		return NULL;
	wake_up_process(task);

	return task;
}

static int write_everywhere(unsigned int rounds)
{
	struct worker *workers;
	int cpu, ret = 0;

	workers = kcalloc(nr_cpu_ids, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		init_completion(&workers[cpu].done);
		workers[cpu].cpu = cpu;
		workers[cpu].rounds = rounds;
		workers[cpu].runner = start(run_text, NULL, cpu);
	}
	cpus_read_unlock();
	/* Without the lock: patching text takes it. */
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (workers[cpu].runner)
			workers[cpu].writer = start(write_text, &workers[cpu],
						    cpu);

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!workers[cpu].runner)
			continue;
		if (workers[cpu].writer) {
			wait_for_completion(&workers[cpu].done);
			kthread_stop(workers[cpu].writer);
		} else {
			workers[cpu].ret = -ENOMEM;
		}
		ret = ret ?: workers[cpu].ret;
	}
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (workers[cpu].runner)
			kthread_stop(workers[cpu].runner);
	kfree(workers);

	pr_info("%d of %d looks found a CPU that runs old text\n",
		atomic_read(&nr_stale), atomic_read(&nr_looks));
	if ((atomic_read(&nr_stale) - STALE_ANYWAY) * STALE_EACH >
	    atomic_read(&nr_looks))
		ret = ret ?: -EIO;

	return ret;
}

static int set_rounds(const char *value, const struct kernel_param *param)
{
	unsigned int rounds;
	int ret = kstrtouint(value, 0, &rounds);

	return ret ?: write_everywhere(rounds);
}

static const struct kernel_param_ops rounds_ops = {
	.set = set_rounds,
};
module_param_cb(rounds, &rounds_ops, NULL, 0200);
MODULE_PARM_DESC(rounds, "write to text this many times on each CPU, now");

static int __init ktext_writers_init(void)
{
	return 0;
}
module_init(ktext_writers_init);

static void __exit ktext_writers_exit(void)
{
}
module_exit(ktext_writers_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Kernel text written and run on every CPU at once");
