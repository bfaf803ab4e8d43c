/* Faults at the nth call that changes a file below one folder, for tests only.
 *
 * Loaded with LD_PRELOAD, so that it sees what Python, SQLite and Arrow ask of the C library. It does nothing until a
 * process calls fault_arm(). Calls are counted from 1, in the order in which they are made; only paths below the given
 * root count. A process that is killed before its nth call leaves on disk what one leaves that is killed after the
 * call before, so one number stands for both moments.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum fault { OFF, COUNT, KILL, TORN, FULL, READONLY, IO_ERROR, STOP };
enum need { ROOM, NO_ROOM };
enum { GO_ON = 0, HALF = -1 };
enum { SOME = 100 }; /* Bytes that are copied where nothing tells how many there are. */

static enum fault fault = OFF;
static long at = 0;
static char root[4096];
static size_t root_length = 0;
static int log_descriptor = -1;
static _Atomic long calls = 0;
static long clock_at = -1, clock_offset = 0;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

/* Begin to count. The log takes every call when counting, and the call that was struck otherwise. */
void fault_arm(int which, long number, const char *below, const char *log) {
    snprintf(root, sizeof root, "%s", below);
    root_length = strlen(root);
    log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    calls = 0;
    at = number;
    fault = (enum fault)which;
}

/* Let the clock be off by so many seconds from the nth call on; 0: from now on. */
void fault_clock(long offset, long from) {
    clock_offset = offset;
    clock_at = from;
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static void tell(long number, const char *call, const char *path) {
    char line[4400];
    int length = snprintf(line, sizeof line, "%ld\t%s\t%s\n", number, call, path + root_length);
    if (length > 0) syscall(SYS_write, log_descriptor, line, (size_t)length);
}

static int below_root(const char *path) {
    return !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

/* Decide what happens to a call: GO_ON, HALF (write half of it), or an error number. */
static int strike(const char *call, const char *path, enum need need, int can_be_torn) {
    long number;
    if (fault == OFF || !below_root(path)) return GO_ON;
    number = ++calls;
    if (fault == COUNT) tell(number, call, path);
    if (number < at || !at) return GO_ON;
    if (number == at && fault != COUNT) tell(number, call, path);
    switch (fault) {
    case KILL:
        if (number == at) die();
        return GO_ON;
    case TORN:
        if (number == at && can_be_torn) return HALF;
        return GO_ON;
    case FULL:
        if (need != ROOM) return GO_ON;
        return number == at && can_be_torn ? HALF : ENOSPC;
    case READONLY:
        return EROFS;
    case IO_ERROR:
        return number == at ? EIO : GO_ON;
    case STOP: /* The call goes on: Python hears the signal when it is back from it. */
        if (number == at) syscall(SYS_kill, getpid(), SIGTERM);
        return GO_ON;
    default:
        return GO_ON;
    }
}

static void absolute(char *full, size_t size, int folder, const char *path) {
    char link[64];
    ssize_t length;
    if (path[0] == '/') {
        snprintf(full, size, "%s", path);
        return;
    }
    if (folder == AT_FDCWD) {
        if (!getcwd(full, size)) full[0] = 0;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        length = readlink(link, full, size - 1);
        full[length > 0 ? length : 0] = 0;
    }
    length = (ssize_t)strlen(full);
    snprintf(full + length, size - (size_t)length, "/%s", path);
}

static int strike_path(const char *call, int folder, const char *path, enum need need) {
    char full[4096];
    if (fault == OFF || !path) return GO_ON;
    absolute(full, sizeof full, folder, path);
    return strike(call, full, need, 0);
}

static int strike_descriptor(const char *call, int descriptor, enum need need, int can_be_torn) {
    char link[64], full[4096];
    ssize_t length;
    if (fault == OFF) return GO_ON;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    length = readlink(link, full, sizeof full - 1);
    full[length > 0 ? length : 0] = 0;
    return strike(call, full, need, can_be_torn);
}

/* What a torn write returns, if the process still lives. */
static ssize_t torn(ssize_t written) {
    if (fault == TORN) die();
    return written;
}

#define FAIL_IF(found)                                                                                                 \
    do {                                                                                                               \
        int number_ = (found);                                                                                         \
        if (number_ > 0) {                                                                                             \
            errno = number_;                                                                                           \
            return -1;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* To open a file that is there changes nothing, so it does not count; but a read-only disk does not allow it. */
static int open_to_write(int folder, const char *path) {
    char full[4096];
    if (fault != READONLY || !at || calls < at) return GO_ON;
    absolute(full, sizeof full, folder, path);
    return below_root(full) ? EROFS : GO_ON;
}

static int strike_open(int folder, const char *path, int flags) {
    enum need need = NO_ROOM;
    if (fault == OFF || !path) return GO_ON;
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))) return GO_ON;
    if (flags & O_CREAT && syscall(SYS_faccessat, folder, path, F_OK)) need = ROOM;
    else if (!(flags & O_TRUNC)) return open_to_write(folder, path);
    return strike_path("open", folder, path, need);
}

#define MODE_OF(flags)                                                                                                 \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                                           \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags)
    FAIL_IF(strike_open(AT_FDCWD, path, flags));
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_OF(flags)
    FAIL_IF(strike_open(AT_FDCWD, path, flags));
    return REAL(open64)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE_OF(flags)
    FAIL_IF(strike_open(folder, path, flags));
    return REAL(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE_OF(flags)
    FAIL_IF(strike_open(folder, path, flags));
    return REAL(openat64)(folder, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

int creat64(const char *path, mode_t mode) { return open64(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

ssize_t write(int descriptor, const void *content, size_t size) {
    int found = strike_descriptor("write", descriptor, ROOM, size > 1);
    FAIL_IF(found);
    if (found == HALF) return torn(REAL(write)(descriptor, content, size / 2));
    return REAL(write)(descriptor, content, size);
}

ssize_t pwrite(int descriptor, const void *content, size_t size, off_t place) {
    int found = strike_descriptor("pwrite", descriptor, ROOM, size > 1);
    FAIL_IF(found);
    if (found == HALF) return torn(REAL(pwrite)(descriptor, content, size / 2, place));
    return REAL(pwrite)(descriptor, content, size, place);
}

ssize_t pwrite64(int descriptor, const void *content, size_t size, off64_t place) {
    return pwrite(descriptor, content, size, place);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    int found = strike_descriptor("writev", descriptor, ROOM, count > 0 && parts[0].iov_len > 1);
    FAIL_IF(found);
    if (found == HALF) return torn(REAL(write)(descriptor, parts[0].iov_base, parts[0].iov_len / 2));
    return REAL(writev)(descriptor, parts, count);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t place) {
    int found = strike_descriptor("pwritev", descriptor, ROOM, count > 0 && parts[0].iov_len > 1);
    FAIL_IF(found);
    if (found == HALF) return torn(REAL(pwrite)(descriptor, parts[0].iov_base, parts[0].iov_len / 2, place));
    return REAL(pwritev)(descriptor, parts, count, place);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t place) {
    return pwritev(descriptor, parts, count, place);
}

ssize_t copy_file_range(int from, off64_t *from_place, int to, off64_t *to_place, size_t size, unsigned flags) {
    int found = strike_descriptor("copy_file_range", to, ROOM, size > 1);
    FAIL_IF(found);
    if (found == HALF) return torn(REAL(copy_file_range)(from, from_place, to, to_place, SOME, flags));
    return REAL(copy_file_range)(from, from_place, to, to_place, size, flags);
}

ssize_t sendfile(int to, int from, off_t *place, size_t size) {
    int found = strike_descriptor("sendfile", to, ROOM, size > 1);
    FAIL_IF(found);
    if (found == HALF) return torn(REAL(sendfile)(to, from, place, SOME));
    return REAL(sendfile)(to, from, place, size);
}

ssize_t sendfile64(int to, int from, off64_t *place, size_t size) { return sendfile(to, from, place, size); }

int fsync(int descriptor) {
    FAIL_IF(strike_descriptor("fsync", descriptor, ROOM, 0));
    return REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
    FAIL_IF(strike_descriptor("fdatasync", descriptor, ROOM, 0));
    return REAL(fdatasync)(descriptor);
}

int ftruncate(int descriptor, off_t size) {
    struct stat now;
    enum need need = !fstat(descriptor, &now) && now.st_size >= size ? NO_ROOM : ROOM;
    FAIL_IF(strike_descriptor("ftruncate", descriptor, need, 0));
    return REAL(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int truncate(const char *path, off_t size) {
    FAIL_IF(strike_path("truncate", AT_FDCWD, path, NO_ROOM));
    return REAL(truncate)(path, size);
}

int truncate64(const char *path, off64_t size) { return truncate(path, size); }

int fallocate(int descriptor, int how, off_t place, off_t size) {
    FAIL_IF(strike_descriptor("fallocate", descriptor, ROOM, 0));
    return REAL(fallocate)(descriptor, how, place, size);
}

int fallocate64(int descriptor, int how, off64_t place, off64_t size) {
    return fallocate(descriptor, how, place, size);
}

int posix_fallocate(int descriptor, off_t place, off_t size) {
    int found = strike_descriptor("posix_fallocate", descriptor, ROOM, 0);
    if (found > 0) return found;
    return REAL(posix_fallocate)(descriptor, place, size);
}

int posix_fallocate64(int descriptor, off64_t place, off64_t size) { return posix_fallocate(descriptor, place, size); }

/* A rename is named after the place that it fills: that is what readers see. */
int rename(const char *from, const char *to) {
    FAIL_IF(strike_path("rename", AT_FDCWD, to, NO_ROOM));
    return REAL(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    FAIL_IF(strike_path("rename", to_folder, to, NO_ROOM));
    return REAL(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    FAIL_IF(strike_path("rename", to_folder, to, NO_ROOM));
    return REAL(renameat2)(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path) {
    FAIL_IF(strike_path("unlink", AT_FDCWD, path, NO_ROOM));
    return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags) {
    FAIL_IF(strike_path(flags & AT_REMOVEDIR ? "rmdir" : "unlink", folder, path, NO_ROOM));
    return REAL(unlinkat)(folder, path, flags);
}

int rmdir(const char *path) {
    FAIL_IF(strike_path("rmdir", AT_FDCWD, path, NO_ROOM));
    return REAL(rmdir)(path);
}

/* A folder that is there already is not made: the answer is that it exists, whatever the disk is like. */
int mkdirat(int folder, const char *path, mode_t mode) {
    if (fault != OFF && syscall(SYS_faccessat, folder, path, F_OK)) FAIL_IF(strike_path("mkdir", folder, path, ROOM));
    return REAL(mkdirat)(folder, path, mode);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int link(const char *from, const char *to) {
    FAIL_IF(strike_path("link", AT_FDCWD, to, ROOM));
    return REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    FAIL_IF(strike_path("link", to_folder, to, ROOM));
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int symlink(const char *target, const char *path) {
    FAIL_IF(strike_path("symlink", AT_FDCWD, path, ROOM));
    return REAL(symlink)(target, path);
}

int symlinkat(const char *target, int folder, const char *path) {
    FAIL_IF(strike_path("symlink", folder, path, ROOM));
    return REAL(symlinkat)(target, folder, path);
}

int chmod(const char *path, mode_t mode) {
    FAIL_IF(strike_path("chmod", AT_FDCWD, path, NO_ROOM));
    return REAL(chmod)(path, mode);
}

int fchmod(int descriptor, mode_t mode) {
    FAIL_IF(strike_descriptor("fchmod", descriptor, NO_ROOM, 0));
    return REAL(fchmod)(descriptor, mode);
}

int fchmodat(int folder, const char *path, mode_t mode, int flags) {
    FAIL_IF(strike_path("chmod", folder, path, NO_ROOM));
    return REAL(fchmodat)(folder, path, mode, flags);
}

static long off(void) { return clock_at >= 0 && calls >= clock_at ? clock_offset : 0; }

int clock_gettime(clockid_t which, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, which, now);
    if (!result && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += off();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    (void)zone;
    if (!result) *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return result;
}

time_t time(time_t *where) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) *where = now.tv_sec;
    return now.tv_sec;
}
