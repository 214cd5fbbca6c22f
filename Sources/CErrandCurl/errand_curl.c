#ifdef __linux__
#define _GNU_SOURCE

#include "errand_curl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void errand_easy_set_callbacks(CURL *easy, curl_write_callback head, curl_write_callback body,
                               curl_read_callback upload, curl_prereq_callback before_request,
                               curl_debug_callback debug, void *data) {
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, data);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, data);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, upload);
  curl_easy_setopt(easy, CURLOPT_READDATA, data);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, data);
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, debug);
  curl_easy_setopt(easy, CURLOPT_DEBUGDATA, data);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, data);
}

void errand_easy_set_socket_callbacks(CURL *easy, curl_opensocket_callback open, void *open_data,
                                      curl_closesocket_callback close, void *close_data) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, open_data);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, close_data);
}

CURLcode errand_easy_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t length) {
  struct curl_blob blob = {.data = (void *)bytes, .len = length, .flags = CURL_BLOB_COPY};
  return curl_easy_setopt(easy, option, length > 0 ? &blob : NULL);
}

long errand_easy_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

int64_t errand_easy_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

void *errand_easy_private(CURL *easy) {
  char *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

CURL *errand_multi_next_done(CURLM *multi, CURLcode *code) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *code = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

curl_socket_t errand_socket_open(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

size_t errand_address_bytes(const struct curl_sockaddr *address, uint8_t bytes[16]) {
  if (address->family == AF_INET) {
    memcpy(bytes, &((const struct sockaddr_in *)&address->addr)->sin_addr, 4);
    return 4;
  }
  if (address->family == AF_INET6) {
    memcpy(bytes, &((const struct sockaddr_in6 *)&address->addr)->sin6_addr, 16);
    return 16;
  }
  return 0;
}

size_t errand_address_parse(const char *text, uint8_t bytes[16]) {
  if (inet_pton(AF_INET, text, bytes) == 1) return 4;
  return inet_pton(AF_INET6, text, bytes) == 1 ? 16 : 0;
}

int errand_socket_close(curl_socket_t socket) { return close(socket); }

// Writes the numeric address and the port of a socket address. Returns false if the address is not an IP address.
static bool describe(const struct sockaddr_storage *address, char *text, socklen_t size, int *port) {
  if (address->ss_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    *port = ntohs(four->sin_port);
    return inet_ntop(AF_INET, &four->sin_addr, text, size) != NULL;
  }
  if (address->ss_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    *port = ntohs(six->sin6_port);
    return inet_ntop(AF_INET6, &six->sin6_addr, text, size) != NULL;
  }
  return false;
}

bool errand_socket_is_between(int fd, const char *local, int local_port, const char *remote, int remote_port) {
  struct sockaddr_storage address;
  char text[INET6_ADDRSTRLEN];
  int port = 0;
  socklen_t size = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &size) != 0) return false;
  if (!describe(&address, text, sizeof text, &port) || port != local_port || strcmp(text, local) != 0) return false;
  size = sizeof address;
  if (getpeername(fd, (struct sockaddr *)&address, &size) != 0) return false;
  return describe(&address, text, sizeof text, &port) && port == remote_port && strcmp(text, remote) == 0;
}

// Reads the next byte without removing it. Returns 1 for a byte, 0 at the end of the stream, -1 for an error, and -2 if
// no byte has arrived.
static int peek(int fd) {
  char byte;
  ssize_t count;
  do {
    count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count >= 0) return (int)count;
  return errno == EAGAIN || errno == EWOULDBLOCK ? -2 : -1;
}

bool errand_socket_has_unread(int fd) { return peek(fd) != -2; }

bool errand_socket_has_ended(int fd) {
  int found = peek(fd);
  return found == 0 || found == -1;
}

bool errand_error_is_lack_of_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

int64_t errand_socket_received(int fd) {
  struct tcp_info info;
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
  if (size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return -1;
  return (int64_t)info.tcpi_bytes_received;
}

int64_t errand_socket_consumed(int fd) {
  int unread = 0;
  int64_t received = errand_socket_received(fd);
  if (received < 0 || ioctl(fd, FIONREAD, &unread) != 0) return 0;
  return received - unread;
}

void errand_socket_disconnect(int fd) {
  const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  (void)connect(fd, &nowhere, sizeof nowhere);
}

unsigned int errand_curl_version_number(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }

const char *errand_system_authorities(void) { return curl_version_info(CURLVERSION_NOW)->cainfo; }

#else
// Some tools reject an object file without symbols. On systems other than Linux, this file would have no symbol.
int errand_curl_is_for_linux_only = 1;
#endif
