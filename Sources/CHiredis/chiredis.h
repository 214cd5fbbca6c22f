#ifndef ERRAND_CHIREDIS_H
#define ERRAND_CHIREDIS_H
#if __has_include(<hiredis/hiredis.h>)
#include <hiredis/hiredis.h>
#else
#include <hiredis.h>
#endif

/* hiredis makes room for all elements that a reply announces, before one of them has come: eleven bytes ask for 16 GiB.
   Replies with more elements than this in one array end the connection instead. */
#define ERRAND_MOST_ELEMENTS 65536

#if HIREDIS_MAJOR >= 1
typedef size_t errand_redis_count;
#else
typedef int errand_redis_count;
#endif

static void *errand_redis_array(const redisReadTask *task, errand_redis_count count) {
  redisReplyObjectFunctions *plain = (redisReplyObjectFunctions *)task->privdata;
  return count > ERRAND_MOST_ELEMENTS ? NULL : plain->createArray(task, count);
}

/* Binds a new reader to that limit. `room` lives as long as the reader. */
static inline void errand_redis_bind(redisReader *reader, redisReplyObjectFunctions *room) {
  *room = *reader->fn;
  room->createArray = errand_redis_array;
  reader->privdata = (void *)reader->fn;
  reader->fn = room;
}
#endif
