/* Stands before the C library (LD_PRELOAD) and imitates what a check cannot arrange otherwise.

   SHIM_HOLD=FILE        a rename or link to a name that is no work file: makes FILE and waits for ever
   SHIM_SNAPSHOTS=DIR    each sync of a "*.part" keeps a copy of it as DIR/part: what a power cut would leave
   SHIM_NO_FALLOCATE=1   fallocate and posix_fallocate are not supported
   SHIM_CLOCK_BACK=N     the calendar clock goes back an hour N milliseconds after the start
   SHIM_FAIL_READONLY=FILE  once FILE exists, writing to a "*.part" fails with EROFS */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int ends(const char *text, const char *suffix)
{
    size_t a = strlen(text), b = strlen(suffix);
    return a >= b && strcmp(text + a - b, suffix) == 0;
}

static void hold(const char *target)
{
    const char *marker = getenv("SHIM_HOLD");
    if (!marker || !target || ends(target, ".part") || ends(target, ".haul")) return;
    if (strncmp(target, "/proc/", 6) == 0 || strncmp(target, "/dev/", 5) == 0) return;
    int fd = open(marker, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    for (;;) pause();
}

int rename(const char *a, const char *b)
{
    hold(b);
    return syscall(SYS_rename, a, b) < 0 ? -1 : 0;
}

int renameat(int f, const char *a, int t, const char *b)
{
    hold(b);
    return syscall(SYS_renameat2, f, a, t, b, 0) < 0 ? -1 : 0;
}

int renameat2(int f, const char *a, int t, const char *b, unsigned flags)
{
    hold(b);
    return syscall(SYS_renameat2, f, a, t, b, flags) < 0 ? -1 : 0;
}

int link(const char *a, const char *b)
{
    hold(b);
    return syscall(SYS_link, a, b) < 0 ? -1 : 0;
}

int linkat(int f, const char *a, int t, const char *b, int flags)
{
    hold(b);
    return syscall(SYS_linkat, f, a, t, b, flags) < 0 ? -1 : 0;
}

static int is_part(int fd)
{
    char link_name[64], path[4096];
    snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link_name, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return ends(path, ".part");
}

/* The copy is what was in the file before the sync began, so it holds no byte that the sync did not cover. */
static void snapshot(int fd)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *directory = getenv("SHIM_SNAPSHOTS");
    if (!directory || !is_part(fd)) return;
    pthread_mutex_lock(&lock);
    char name[4096], final[4096], own[64];
    snprintf(name, sizeof name, "%s/part.new", directory);
    snprintf(final, sizeof final, "%s/part", directory);
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    int in = open(own, O_RDONLY), out = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    static char buffer[1 << 18];
    ssize_t n = -1;
    while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
        if (syscall(SYS_write, out, buffer, n) != n) break;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    if (n == 0) syscall(SYS_rename, name, final);
    pthread_mutex_unlock(&lock);
}

int fsync(int fd)
{
    snapshot(fd);
    return syscall(SYS_fsync, fd) < 0 ? -1 : 0;
}

int fdatasync(int fd)
{
    snapshot(fd);
    return syscall(SYS_fdatasync, fd) < 0 ? -1 : 0;
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    if (getenv("SHIM_NO_FALLOCATE")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return syscall(SYS_fallocate, fd, mode, offset, length) < 0 ? -1 : 0;
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    if (getenv("SHIM_NO_FALLOCATE")) return EOPNOTSUPP;
    return syscall(SYS_fallocate, fd, 0, offset, length) < 0 ? errno : 0;
}

static int refuses(int fd)
{
    const char *flag = getenv("SHIM_FAIL_READONLY");
    return flag && access(flag, F_OK) == 0 && is_part(fd);
}

ssize_t pwrite(int fd, const void *data, size_t count, off_t offset)
{
    if (refuses(fd)) {
        errno = EROFS;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, count, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t count, off_t offset)
{
    return pwrite(fd, data, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    if (refuses(fd)) {
        errno = EROFS;
        return -1;
    }
    return syscall(SYS_pwritev, fd, parts, count, (unsigned long) offset, 0ul);
}

static long shift(void)
{
    static struct timespec start;
    const char *after = getenv("SHIM_CLOCK_BACK");
    struct timespec now;
    if (!after) return 0;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    if (!start.tv_sec) start = now;
    long elapsed = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
    return elapsed >= atol(after) ? -3600 : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += shift();
    return result < 0 ? -1 : 0;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone)
{
    struct timespec now;
    (void) zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    value->tv_sec = now.tv_sec;
    value->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
