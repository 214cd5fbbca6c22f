#pragma once
#ifdef __linux__

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

// This header gives Swift access to epoll, eventfd, sendfile and the numbers of TCP, because Swift's Glibc module does
// not contain them.

// The events of a file descriptor, as bit flags.
enum {
  errand_readable = 1,
  errand_writable = 2,
  errand_ended = 4, // the peer closed or reset the connection, or the connection failed
};

// An event of a file descriptor: the token that was passed when the descriptor was added, and the flags above.
typedef struct {
  uint64_t token;
  uint32_t flags;
} errand_event;

// Creates a poller. Returns -1 if the system has no resources for a poller.
static inline int errand_poller_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

// Creates a descriptor that wakes a poller. Returns -1 if the system has no resources for the descriptor.
static inline int errand_waker_make(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// Wakes the poller by making the descriptor `waker` readable.
static inline void errand_waker_signal(int waker) {
  uint64_t one = 1;
  while (write(waker, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

// Makes the poller report each change of a descriptor once (edge-triggered). Returns 0 on success.
static inline int errand_poller_add(int poller, int descriptor, uint64_t token) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = token;
  return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

// Waits for events for at most `milliseconds`. Returns the number of events, or 0 after a signal or a failure.
int errand_poller_wait(int poller, errand_event *events, int count, int milliseconds);

// Sends bytes of a file over a socket without copying them into the process. Returns the number of bytes, 0 at the end
// of the file, or -1 with the system's error in errno. Never raises SIGPIPE.
ssize_t errand_send_file(int socket, int file, off_t offset, size_t count);

// Returns how many bytes of a TCP socket the peer's system has acknowledged, and how many bytes that this system has
// accepted are not acknowledged yet. Returns false if the system does not know, for example for another kind of socket.
bool errand_tcp_traffic(int socket, uint64_t *acknowledged, uint64_t *unacknowledged);

#endif
