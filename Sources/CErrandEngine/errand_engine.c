#ifdef __linux__
#define _GNU_SOURCE

#include "errand_engine.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>

enum { most_events = 256 };

int errand_poller_wait(int poller, errand_event *events, int count, int milliseconds) {
  struct epoll_event found[most_events];
  int most = count < most_events ? count : most_events;
  int number = epoll_wait(poller, found, most, milliseconds);
  // A process that was stopped and continues is interrupted here. The events of the meantime must be handled before the
  // time-outs.
  if (number < 0 && errno == EINTR) number = epoll_wait(poller, found, most, 0);
  for (int index = 0; index < number; index += 1) {
    uint32_t flags = 0;
    if (found[index].events & EPOLLIN) flags |= errand_readable;
    if (found[index].events & EPOLLOUT) flags |= errand_writable;
    if (found[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) flags |= errand_ended;
    events[index].token = found[index].data.u64;
    events[index].flags = flags;
  }
  return number > 0 ? number : 0;
}

// If the peer has closed the connection, the system sends the signal SIGPIPE to the thread, and sendfile() has no flag
// that prevents it. So the thread blocks the signal during the call, and removes a signal that the call has caused. The
// call may cause one even if it returns a number of bytes, because it sends the file in parts. Afterwards the signal mask
// is the same as before, because tasks of the app may run on the thread.
ssize_t errand_send_file(int socket, int file, off_t offset, size_t count) {
  sigset_t broken_pipe, pending, before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigemptyset(&pending);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  ssize_t sent;
  do {
    sent = sendfile(socket, file, &offset, count);
  } while (sent < 0 && errno == EINTR);
  int error = errno;
  const struct timespec no_time = {0, 0};
  while (!was_pending && sigtimedwait(&broken_pipe, NULL, &no_time) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return sent;
}

// The number of unacknowledged bytes is read first. If the peer acknowledges bytes between the two calls, the sum of the
// numbers is larger than the number of bytes that were sent, but never smaller.
bool errand_tcp_traffic(int socket, uint64_t *acknowledged, uint64_t *unacknowledged) {
  int queued = 0;
  struct tcp_info info;
  memset(&info, 0, sizeof info);
  socklen_t size = sizeof info;
  if (ioctl(socket, SIOCOUTQ, &queued) != 0 || queued < 0) return false;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  // An old system returns a shorter structure.
  if (size < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return false;
  *acknowledged = info.tcpi_bytes_acked;
  *unacknowledged = (uint64_t)queued;
  return true;
}

#else
// Some tools reject an object file without symbols. On systems other than Linux, this file would have no symbol.
int errand_engine_is_for_linux_only = 1;
#endif
