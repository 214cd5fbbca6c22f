#ifndef ERRAND_CHIREDIS_H
#define ERRAND_CHIREDIS_H
#if __has_include(<hiredis/hiredis.h>)
#include <hiredis/hiredis.h>
#else
#include <hiredis.h>
#endif

/* hiredis makes room for all elements that a reply announces, before one of them has come: eleven bytes ask for 16 GiB.
   Arrays in arrays multiply that. It also keeps what it has read of a reply for as long as the reply goes on. So elements
   and bytes are counted over a whole reply, and a reply with more than this ends the connection instead. */
#define ERRAND_MOST_ELEMENTS 65536
#define ERRAND_MOST_DEPTH 8

#if HIREDIS_MAJOR >= 1
typedef size_t errand_redis_count;
#else
typedef int errand_redis_count;
#endif

/* What is counted for one reader. `functions` are the reader's, `plain` are those of hiredis. */
typedef struct errand_redis_limits {
  redisReplyObjectFunctions functions;
  redisReplyObjectFunctions *plain;
  size_t most_bytes;
  size_t bytes;
  size_t elements;
} errand_redis_limits;

/* Nonzero if the reply with this part is still within its limits. A part without a parent begins a new reply. */
static int errand_redis_admits(const redisReadTask *task, size_t bytes, size_t elements) {
  errand_redis_limits *limits = (errand_redis_limits *)task->privdata;
  int depth = 0;
  if (task->parent == NULL) limits->bytes = limits->elements = 0;
  for (const redisReadTask *above = task->parent; above != NULL; above = above->parent) depth += 1;
  if (depth > ERRAND_MOST_DEPTH || elements > ERRAND_MOST_ELEMENTS - limits->elements) return 0;
  if (bytes > limits->most_bytes - limits->bytes) return 0;
  limits->elements += elements;
  limits->bytes += bytes;
  return 1;
}

static void *errand_redis_array(const redisReadTask *task, errand_redis_count count) {
  errand_redis_limits *limits = (errand_redis_limits *)task->privdata;
  size_t elements = count > 0 ? (size_t)count : 0;
  return errand_redis_admits(task, 0, elements) ? limits->plain->createArray(task, count) : NULL;
}

static void *errand_redis_string(const redisReadTask *task, char *text, size_t length) {
  errand_redis_limits *limits = (errand_redis_limits *)task->privdata;
  return errand_redis_admits(task, length, 0) ? limits->plain->createString(task, text, length) : NULL;
}

/* Binds a new reader to the limits, which live as long as the reader. */
static inline void errand_redis_bind(redisReader *reader, errand_redis_limits *limits, size_t most_bytes) {
  limits->functions = *reader->fn;
  limits->functions.createArray = errand_redis_array;
  limits->functions.createString = errand_redis_string;
  limits->plain = reader->fn;
  limits->most_bytes = most_bytes;
  limits->bytes = limits->elements = 0;
  reader->privdata = limits;
  reader->fn = &limits->functions;
}
#endif
