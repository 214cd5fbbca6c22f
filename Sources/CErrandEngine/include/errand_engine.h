#pragma once
#ifdef __linux__

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Swift's Glibc module has neither sys/epoll.h nor sys/eventfd.h.

// What happened to a descriptor.
enum {
  errand_readable = 1,
  errand_writable = 2,
  errand_ended = 4, // the other end has closed or reset it, or it failed
};

// One report of a poller: the token that the descriptor was added with, and what happened.
typedef struct {
  uint64_t token;
  uint32_t flags;
} errand_event;

// A poller; -1 if the system has no room for one.
static inline int errand_poller_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

// A descriptor that wakes a poller; -1 if the system has no room for one.
static inline int errand_waker_make(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// Makes the descriptor of a waker readable.
static inline void errand_waker_signal(int waker) {
  uint64_t one = 1;
  while (write(waker, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

// Has a poller report what changes at a descriptor, edge by edge. 0 when it went well.
static inline int errand_poller_add(int poller, int descriptor, uint64_t token) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = token;
  return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

// Waits for reports, at most `milliseconds`. Returns their number, 0 also after a signal.
int errand_poller_wait(int poller, errand_event *events, int count, int milliseconds);

#endif
