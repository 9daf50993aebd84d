#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CPostgresLibrary library;
static int isLoaded = 0;

static int load(char *reason, size_t size) {
  void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    snprintf(reason, size, "libpq.so.5 is not installed: apt-get install libpq5 (%s)", dlerror());
    return 0;
  }
  // As in Cryptography.swift: OpenSSL, if libpq uses it, leaves its memory to the system at exit.
  int (*initialize)(uint64_t, const void *);
  *(void **)&initialize = dlsym(handle, "OPENSSL_init_crypto");
  const uint64_t withoutExitHandler = 0x80000;
  if (initialize) initialize(withoutExitHandler, NULL);
#define FIND(member, name)                                                                       \
  do {                                                                                           \
    void *symbol = dlsym(handle, name);                                                          \
    if (!symbol) {                                                                               \
      snprintf(reason, size, "libpq.so.5 is too old: it has no %s; apt-get install libpq5", name); \
      dlclose(handle);                                                                           \
      return 0;                                                                                  \
    }                                                                                            \
    *(void **)&library.member = symbol;                                                          \
  } while (0)
  FIND(conninfoParse, "PQconninfoParse");
  FIND(conninfoFree, "PQconninfoFree");
  FIND(connectStartParams, "PQconnectStartParams");
  FIND(setErrorVerbosity, "PQsetErrorVerbosity");
  FIND(reset, "PQreset");
  FIND(status, "PQstatus");
  FIND(backendPID, "PQbackendPID");
  FIND(socket, "PQsocket");
  FIND(errorMessage, "PQerrorMessage");
  FIND(finish, "PQfinish");
  FIND(setnonblocking, "PQsetnonblocking");
  FIND(setNoticeProcessor, "PQsetNoticeProcessor");
  FIND(sendQuery, "PQsendQuery");
  FIND(sendQueryParams, "PQsendQueryParams");
  FIND(sendPrepare, "PQsendPrepare");
  FIND(sendQueryPrepared, "PQsendQueryPrepared");
  FIND(flush, "PQflush");
  FIND(consumeInput, "PQconsumeInput");
  FIND(isBusy, "PQisBusy");
  FIND(getResult, "PQgetResult");
  FIND(resultStatus, "PQresultStatus");
  FIND(resultErrorMessage, "PQresultErrorMessage");
  FIND(resultErrorField, "PQresultErrorField");
  FIND(ntuples, "PQntuples");
  FIND(getvalue, "PQgetvalue");
  FIND(getlength, "PQgetlength");
  FIND(getisnull, "PQgetisnull");
  FIND(clear, "PQclear");
  FIND(getCopyData, "PQgetCopyData");
  FIND(freemem, "PQfreemem");
  FIND(enterPipelineMode, "PQenterPipelineMode");
  FIND(exitPipelineMode, "PQexitPipelineMode");
  FIND(pipelineSync, "PQpipelineSync");
#undef FIND
  return 1;
}

const CPostgresLibrary *CPostgresLoad(char *reason, size_t size) {
  pthread_mutex_lock(&lock);
  if (!isLoaded) isLoaded = load(reason, size);
  const CPostgresLibrary *result = isLoaded ? &library : NULL;
  pthread_mutex_unlock(&lock);
  return result;
}

int CPostgresMakeBell(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
