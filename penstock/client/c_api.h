/* The C API: graphs, sessions, tensors and errors behind opaque handles. Stable: functions are
 * added, never changed.
 *
 * Every call that can fail takes a PS_Status and sets it, also to success. No exception leaves a
 * call. Handles that a call returns belong to the caller, who deletes them; deleting NULL does
 * nothing. Strings that a call returns live as long as the handle they came from, unless said
 * otherwise. NULL where a handle is due is an INVALID_ARGUMENT. Threads: PS_SessionRun may be
 * called concurrently on one session; a graph has one writer at a time. */
#ifndef PENSTOCK_CLIENT_C_API_H_
#define PENSTOCK_CLIENT_C_API_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PS_EXPORT __attribute__((visibility("default")))
#else
#define PS_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- library ---- */

/* "0.1.0", for ever valid. */
PS_EXPORT const char* PS_Version(void);

/* ---- status ---- */

typedef struct PS_Status PS_Status;

/* Numbers as in gRPC: 0 is success, 3 INVALID_ARGUMENT, 5 NOT_FOUND, 8 RESOURCE_EXHAUSTED, ... */
typedef int PS_Code;
#define PS_OK 0
#define PS_INVALID_ARGUMENT 3
#define PS_DEADLINE_EXCEEDED 4
#define PS_NOT_FOUND 5
#define PS_RESOURCE_EXHAUSTED 8
#define PS_FAILED_PRECONDITION 9
#define PS_INTERNAL 13

PS_EXPORT PS_Status* PS_NewStatus(void);
PS_EXPORT void PS_DeleteStatus(PS_Status* status);
PS_EXPORT PS_Code PS_GetCode(const PS_Status* status);
/* Empty for success; valid until the status is set again. */
PS_EXPORT const char* PS_Message(const PS_Status* status);

/* ---- tensors ---- */

typedef struct PS_Tensor PS_Tensor;

/* TensorFlow's numbers: 1 float, 2 double, 3 int32, 7 string, 9 int64, 10 bool, ... */
typedef int PS_DType;
#define PS_FLOAT 1
#define PS_DOUBLE 2
#define PS_INT32 3
#define PS_STRING 7
#define PS_INT64 9
#define PS_BOOL 10

/* A tensor with zeroed memory of its own (strings: empty). `dims` has `rank` extents, all >= 0. */
PS_EXPORT PS_Tensor* PS_NewTensor(PS_DType dtype, const int64_t* dims, int rank, PS_Status* status);
/* A view of the caller's memory, row-major and aligned for the dtype; `release(context)` is called
 * when nobody uses it any more, possibly on another thread. Not for strings. */
PS_EXPORT PS_Tensor* PS_NewTensorFromMemory(PS_DType dtype, const int64_t* dims, int rank,
                                            void* data, size_t bytes,
                                            void (*release)(void* context), void* context,
                                            PS_Status* status);
PS_EXPORT void PS_DeleteTensor(PS_Tensor* tensor);
PS_EXPORT PS_DType PS_TensorDType(const PS_Tensor* tensor);
PS_EXPORT int PS_TensorRank(const PS_Tensor* tensor);
/* 0 for an axis that is not there. */
PS_EXPORT int64_t PS_TensorDim(const PS_Tensor* tensor, int axis);
PS_EXPORT int64_t PS_TensorSize(const PS_Tensor* tensor);
PS_EXPORT size_t PS_TensorBytes(const PS_Tensor* tensor);
/* The elements; NULL for strings. A tensor that a step returned may share memory with others: read
 * it only. */
PS_EXPORT void* PS_TensorData(PS_Tensor* tensor);
PS_EXPORT void PS_TensorSetString(PS_Tensor* tensor, int64_t index, const char* bytes,
                                  size_t length, PS_Status* status);
/* The bytes of element `index`; NULL on error. */
PS_EXPORT const char* PS_TensorString(const PS_Tensor* tensor, int64_t index, size_t* length,
                                      PS_Status* status);

/* ---- graphs ---- */

typedef struct PS_Graph PS_Graph;
/* A node being described; PS_FinishNode takes it. */
typedef struct PS_NodeBuilder PS_NodeBuilder;

PS_EXPORT PS_Graph* PS_NewGraph(void);
/* REQUIRES: its sessions are gone. */
PS_EXPORT void PS_DeleteGraph(PS_Graph* graph);
/* Adds the nodes of a serialized GraphDef. On error the graph is as before. */
PS_EXPORT void PS_GraphImport(PS_Graph* graph, const void* graph_def, size_t bytes,
                              PS_Status* status);
/* A serialized GraphDef, to be freed with PS_Free; NULL on error. */
PS_EXPORT void* PS_GraphExport(const PS_Graph* graph, size_t* bytes, PS_Status* status);
PS_EXPORT void PS_Free(void* memory);
PS_EXPORT int PS_GraphNumNodes(const PS_Graph* graph);

PS_EXPORT PS_NodeBuilder* PS_NewNode(PS_Graph* graph, const char* op, const char* name);
/* Inputs are "node" or "node:output". Errors of the builder calls come out at PS_FinishNode. */
PS_EXPORT void PS_NodeInput(PS_NodeBuilder* builder, const char* output);
PS_EXPORT void PS_NodeControlInput(PS_NodeBuilder* builder, const char* node);
PS_EXPORT void PS_NodeDevice(PS_NodeBuilder* builder, const char* device);
PS_EXPORT void PS_NodeAttrType(PS_NodeBuilder* builder, const char* name, PS_DType dtype);
PS_EXPORT void PS_NodeAttrInt(PS_NodeBuilder* builder, const char* name, int64_t value);
PS_EXPORT void PS_NodeAttrFloat(PS_NodeBuilder* builder, const char* name, float value);
PS_EXPORT void PS_NodeAttrBool(PS_NodeBuilder* builder, const char* name, int value);
PS_EXPORT void PS_NodeAttrString(PS_NodeBuilder* builder, const char* name, const char* bytes,
                                 size_t length);
/* A negative extent is unknown; rank -1 is an unknown rank. */
PS_EXPORT void PS_NodeAttrShape(PS_NodeBuilder* builder, const char* name, const int64_t* dims,
                                int rank);
PS_EXPORT void PS_NodeAttrTensor(PS_NodeBuilder* builder, const char* name, const PS_Tensor* value);
/* Checks and adds the node, and deletes the builder in any case. The name may have got a suffix: it
 * is returned, and lives as long as the graph; NULL on error. */
PS_EXPORT const char* PS_FinishNode(PS_NodeBuilder* builder, PS_Status* status);

/* ---- sessions ---- */

typedef struct PS_Session PS_Session;

typedef struct PS_SessionOptions {
  size_t struct_size;   /* sizeof(PS_SessionOptions): lets the struct grow */
  int threads;          /* 0: the budget of the process */
  int64_t memory_limit; /* bytes, 0: none */
  /* Writes PS_SessionDebugString to the log when a step makes no progress for so long; 0: as
   * PENSTOCK_STALL_REPORT_MS says, or never. */
  int64_t stall_report_ms;
} PS_SessionOptions;

/* `options` may be NULL. The graph must outlive the session. */
PS_EXPORT PS_Session* PS_NewSession(PS_Graph* graph, const PS_SessionOptions* options,
                                    PS_Status* status);
/* Cancels the steps in flight and waits for them. */
PS_EXPORT void PS_DeleteSession(PS_Session* session);
/* Runs a step. Feeds and fetches are "node:output", targets "node". On success `fetched` holds a
 * new tensor for each fetch, which the caller deletes; on error it is all NULL. timeout_ms 0: none.
 */
PS_EXPORT void PS_SessionRun(PS_Session* session, const char* const* feed_names,
                             PS_Tensor* const* feeds, int num_feeds, const char* const* fetch_names,
                             PS_Tensor** fetched, int num_fetches, const char* const* target_names,
                             int num_targets, int64_t timeout_ms, PS_Status* status);

/* Starts a step that is fed and fetched in pieces by PS_SessionPartialRun; each node runs once.
 * Returns its handle; 0 on error. */
PS_EXPORT int64_t PS_SessionPartialRunSetup(PS_Session* session, const char* const* feed_names,
                                            int num_feeds, const char* const* fetch_names,
                                            int num_fetches, const char* const* target_names,
                                            int num_targets, PS_Status* status);
/* Gives some of the feeds, then waits for some of the fetches; `fetched` as in PS_SessionRun. The
 * handle is gone when all feeds and fetches were used, and when the step fails. */
PS_EXPORT void PS_SessionPartialRun(PS_Session* session, int64_t handle,
                                    const char* const* feed_names, PS_Tensor* const* feeds,
                                    int num_feeds, const char* const* fetch_names,
                                    PS_Tensor** fetched, int num_fetches, int64_t timeout_ms,
                                    PS_Status* status);
/* Cancels the step and forgets the handle. */
PS_EXPORT void PS_SessionPartialRunAbandon(PS_Session* session, int64_t handle, PS_Status* status);
/* Steps in flight, partial runs and state, for a person; to be freed with PS_Free. NULL on error.
 */
PS_EXPORT char* PS_SessionDebugString(PS_Session* session, PS_Status* status);

#ifdef __cplusplus
}
#endif

#endif /* PENSTOCK_CLIENT_C_API_H_ */
