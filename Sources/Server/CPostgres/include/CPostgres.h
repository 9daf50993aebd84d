#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <stddef.h>

// The part of libpq that Hearth uses. The library is loaded at run time, so that programs start
// without it, and can be built without its headers. The prototypes are those in its documentation.

#pragma clang assume_nonnull begin

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

typedef enum { CPOSTGRES_CONNECTION_OK = 0, CPOSTGRES_CONNECTION_BAD = 1 } CPostgresConnectionStatus;

/// How much an error message says; only the verbose ones have the SQLSTATE.
enum { CPOSTGRES_ERRORS_DEFAULT = 1, CPOSTGRES_ERRORS_VERBOSE = 2 };

typedef enum {
  CPOSTGRES_EMPTY_QUERY = 0,
  CPOSTGRES_COMMAND_OK = 1,
  CPOSTGRES_TUPLES_OK = 2,
  CPOSTGRES_COPY_OUT = 3,
  CPOSTGRES_COPY_IN = 4,
  CPOSTGRES_BAD_RESPONSE = 5,
  CPOSTGRES_NONFATAL_ERROR = 6,
  CPOSTGRES_FATAL_ERROR = 7,
  CPOSTGRES_PIPELINE_SYNC = 10
} CPostgresResultStatus;

/// The fields of an error: the primary message, its detail, the SQLSTATE and the severity.
enum {
  CPOSTGRES_MESSAGE = 'M',
  CPOSTGRES_DETAIL = 'D',
  CPOSTGRES_SQLSTATE = 'C',
  CPOSTGRES_SEVERITY = 'V'
};

/// A part of a connection string.
typedef struct {
  const char *_Nullable keyword;
  const char *_Nullable envvar;
  const char *_Nullable compiled;
  const char *_Nullable val;
  const char *_Nullable label;
  const char *_Nullable dispchar;
  int dispsize;
} CPostgresOption;

typedef void (*CPostgresNoticeProcessor)(void *_Nullable, const char *);

/// The functions of libpq, under their names in the library.
typedef struct {
  CPostgresOption *_Nullable (*_Nonnull conninfoParse)(
      const char *text, char *_Nullable *_Nullable message);
  void (*_Nonnull conninfoFree)(CPostgresOption *);
  PGconn *_Nullable (*_Nonnull connectStartParams)(
      const char *_Nullable const *_Nonnull keywords, const char *_Nullable const *_Nonnull values, int expandDbname);
  int (*_Nonnull setErrorVerbosity)(PGconn *, int verbosity);
  void (*_Nonnull reset)(PGconn *);
  int (*_Nonnull status)(const PGconn *);
  int (*_Nonnull backendPID)(const PGconn *);
  int (*_Nonnull socket)(const PGconn *);
  char *_Nonnull (*_Nonnull errorMessage)(const PGconn *);
  void (*_Nonnull finish)(PGconn *);
  int (*_Nonnull setnonblocking)(PGconn *, int);
  CPostgresNoticeProcessor _Nullable (*_Nonnull setNoticeProcessor)(
      PGconn *, CPostgresNoticeProcessor, void *_Nullable);
  int (*_Nonnull sendQuery)(PGconn *, const char *script);
  int (*_Nonnull sendQueryParams)(
      PGconn *, const char *command, int count, const unsigned int *_Nullable types,
      const char *_Nullable const *_Nullable values, const int *_Nullable lengths,
      const int *_Nullable formats, int resultFormat);
  int (*_Nonnull sendPrepare)(
      PGconn *, const char *name, const char *command, int count, const unsigned int *_Nullable types);
  int (*_Nonnull sendQueryPrepared)(
      PGconn *, const char *name, int count, const char *_Nullable const *_Nullable values,
      const int *_Nullable lengths, const int *_Nullable formats, int resultFormat);
  int (*_Nonnull flush)(PGconn *);
  int (*_Nonnull consumeInput)(PGconn *);
  int (*_Nonnull isBusy)(PGconn *);
  PGresult *_Nullable (*_Nonnull getResult)(PGconn *);
  int (*_Nonnull resultStatus)(const PGresult *);
  char *_Nonnull (*_Nonnull resultErrorMessage)(const PGresult *);
  char *_Nullable (*_Nonnull resultErrorField)(const PGresult *, int field);
  int (*_Nonnull ntuples)(const PGresult *);
  char *_Nonnull (*_Nonnull getvalue)(const PGresult *, int row, int column);
  int (*_Nonnull getlength)(const PGresult *, int row, int column);
  int (*_Nonnull getisnull)(const PGresult *, int row, int column);
  void (*_Nonnull clear)(PGresult *);
  int (*_Nonnull getCopyData)(PGconn *, char *_Nullable *_Nonnull buffer, int async);
  void (*_Nonnull freemem)(void *);
  int (*_Nonnull enterPipelineMode)(PGconn *);
  int (*_Nonnull exitPipelineMode)(PGconn *);
  int (*_Nonnull pipelineSync)(PGconn *);
} CPostgresLibrary;

/// Loads the library on the first successful call; it is never unloaded.
///
/// - Returns: Its functions, or null after writing the reason why it cannot be used to the buffer.
const CPostgresLibrary *_Nullable CPostgresLoad(char *reason, size_t size);

/// A descriptor to poll that is readable once 8 bytes have been written to it, until they are read;
/// negative if there is none left.
int CPostgresMakeBell(void);

#pragma clang assume_nonnull end

#endif
