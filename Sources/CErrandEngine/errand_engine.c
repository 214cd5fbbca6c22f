#ifdef __linux__
#include "errand_engine.h"

enum { most_events = 256 };

int errand_poller_wait(int poller, errand_event *events, int count, int milliseconds) {
  struct epoll_event found[most_events];
  int number = epoll_wait(poller, found, count < most_events ? count : most_events, milliseconds);
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

#else
// Some tools reject an object file without symbols. On systems other than Linux, this file would have no symbol.
int errand_engine_is_for_linux_only = 1;
#endif
