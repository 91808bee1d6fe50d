/* Builds, runs, exports and re-imports a graph through the C API alone, and checks what misuse
 * gets. */
#include "penstock/client/c_api.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

#define EXPECT_OK(status)                                                            \
  do {                                                                               \
    if (PS_GetCode(status) != PS_OK) {                                               \
      printf("%s:%d: failed: code %d, %s\n", __FILE__, __LINE__, PS_GetCode(status), \
             PS_Message(status));                                                    \
      ++failures;                                                                    \
    }                                                                                \
  } while (0)

static PS_Tensor* Vector(const float* values, int64_t n, PS_Status* status) {
  PS_Tensor* tensor = PS_NewTensor(PS_FLOAT, &n, 1, status);
  EXPECT_OK(status);
  memcpy(PS_TensorData(tensor), values, (size_t)n * sizeof(float));
  return tensor;
}

/* y = x * x + c over a vector of unknown length, with c = 1. */
static void Build(PS_Graph* graph, PS_Status* status) {
  const int64_t unknown = -1;
  PS_NodeBuilder* node = PS_NewNode(graph, "Placeholder", "x");
  PS_NodeAttrType(node, "dtype", PS_FLOAT);
  PS_NodeAttrShape(node, "shape", &unknown, 1);
  EXPECT(PS_FinishNode(node, status) != NULL);
  EXPECT_OK(status);

  PS_Tensor* one = PS_NewTensor(PS_FLOAT, NULL, 0, status);
  *(float*)PS_TensorData(one) = 1;
  node = PS_NewNode(graph, "Const", "c");
  PS_NodeAttrType(node, "dtype", PS_FLOAT);
  PS_NodeAttrTensor(node, "value", one);
  EXPECT(PS_FinishNode(node, status) != NULL);
  EXPECT_OK(status);
  PS_DeleteTensor(one);

  node = PS_NewNode(graph, "Mul", "square");
  PS_NodeInput(node, "x");
  PS_NodeInput(node, "x:0");
  EXPECT(PS_FinishNode(node, status) != NULL);
  EXPECT_OK(status);

  node = PS_NewNode(graph, "AddV2", "y");
  PS_NodeInput(node, "square");
  PS_NodeInput(node, "c");
  EXPECT(strcmp(PS_FinishNode(node, status), "y") == 0);
  EXPECT_OK(status);
}

static void Run(PS_Graph* graph, PS_Status* status) {
  const PS_SessionOptions options = {sizeof(PS_SessionOptions), 1, 0, 0};
  PS_Session* session = PS_NewSession(graph, &options, status);
  EXPECT_OK(status);
  const float values[] = {1, 2, 3};
  PS_Tensor* x = Vector(values, 3, status);
  const char* feeds[] = {"x:0"};
  const char* fetches[] = {"y:0", "square"};
  PS_Tensor* fetched[2];
  PS_SessionRun(session, feeds, &x, 1, fetches, fetched, 2, NULL, 0, 10000, status);
  EXPECT_OK(status);
  EXPECT(PS_TensorDType(fetched[0]) == PS_FLOAT && PS_TensorRank(fetched[0]) == 1 &&
         PS_TensorDim(fetched[0], 0) == 3);
  for (int i = 0; i < 3; ++i)
    EXPECT(((float*)PS_TensorData(fetched[0]))[i] == values[i] * values[i] + 1);
  for (int i = 0; i < 3; ++i)
    EXPECT(((float*)PS_TensorData(fetched[1]))[i] == values[i] * values[i]);
  PS_DeleteTensor(fetched[0]);
  PS_DeleteTensor(fetched[1]);

  /* Misuse gets a code and a message, and the session works on. */
  const char* nothing[] = {"no_such_node:0"};
  PS_SessionRun(session, feeds, &x, 1, nothing, fetched, 1, NULL, 0, 0, status);
  EXPECT(PS_GetCode(status) == PS_NOT_FOUND && strstr(PS_Message(status), "no_such_node") != NULL &&
         fetched[0] == NULL);
  PS_SessionRun(session, NULL, NULL, 0, fetches, fetched, 1, NULL, 0, 0, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT && strstr(PS_Message(status), "x") != NULL);
  PS_SessionRun(session, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, 0, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT);
  PS_SessionRun(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, 0, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT);
  const int64_t two[] = {1, 2};
  PS_Tensor* wrong = PS_NewTensor(PS_FLOAT, two, 2, status);
  PS_SessionRun(session, feeds, &wrong, 1, fetches, fetched, 1, NULL, 0, 0, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT && strstr(PS_Message(status), "[1,2]") != NULL);
  PS_DeleteTensor(wrong);
  PS_SessionRun(session, feeds, &x, 1, fetches, fetched, 1, NULL, 0, 0, status);
  EXPECT_OK(status);
  PS_DeleteTensor(fetched[0]);
  PS_DeleteTensor(x);
  PS_DeleteSession(session);
}

/* The same graph in two calls. */
static void RunInPieces(PS_Graph* graph, PS_Status* status) {
  /* A caller that was compiled before options grew. */
  PS_SessionOptions old = {offsetof(PS_SessionOptions, stall_report_ms), 1, 0, -1};
  PS_Session* session = PS_NewSession(graph, &old, status);
  EXPECT_OK(status);
  const float values[] = {2, 3};
  PS_Tensor* x = Vector(values, 2, status);
  const char* feeds[] = {"x:0", "c:0"};
  const char* fetches[] = {"square:0", "y:0"};
  const int64_t handle = PS_SessionPartialRunSetup(session, feeds, 2, fetches, 2, NULL, 0, status);
  EXPECT_OK(status);
  PS_Tensor* fetched[1];
  PS_SessionPartialRun(session, handle, NULL, NULL, 0, fetches, fetched, 1, 0, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT && fetched[0] == NULL &&
         strstr(PS_Message(status), "x:0") != NULL);
  PS_SessionPartialRun(session, handle, feeds, &x, 1, fetches, fetched, 1, 10000, status);
  EXPECT_OK(status);
  EXPECT(((float*)PS_TensorData(fetched[0]))[1] == 9);
  PS_DeleteTensor(fetched[0]);
  char* text = PS_SessionDebugString(session, status);
  EXPECT_OK(status);
  EXPECT(strstr(text, "feeds to come: c:0") != NULL);
  PS_Free(text);
  PS_Tensor* ten = PS_NewTensor(PS_FLOAT, NULL, 0, status);
  *(float*)PS_TensorData(ten) = 10;
  PS_SessionPartialRun(session, handle, feeds + 1, &ten, 1, fetches + 1, fetched, 1, 0, status);
  EXPECT_OK(status);
  EXPECT(((float*)PS_TensorData(fetched[0]))[0] == 14);
  PS_DeleteTensor(fetched[0]);
  PS_SessionPartialRun(session, handle, NULL, NULL, 0, NULL, NULL, 0, 0, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT);

  const int64_t left = PS_SessionPartialRunSetup(session, feeds, 1, fetches, 1, NULL, 0, status);
  EXPECT_OK(status);
  PS_SessionPartialRunAbandon(session, left, status);
  EXPECT_OK(status);
  PS_SessionPartialRunAbandon(session, left, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT);
  EXPECT(PS_SessionPartialRunSetup(NULL, NULL, 0, NULL, 0, NULL, 0, status) == 0 &&
         PS_GetCode(status) == PS_INVALID_ARGUMENT);
  EXPECT(PS_SessionDebugString(NULL, status) == NULL);
  PS_DeleteTensor(ten);
  PS_DeleteTensor(x);
  PS_DeleteSession(session);
}

static void BadNodes(PS_Graph* graph, PS_Status* status) {
  EXPECT(PS_FinishNode(PS_NewNode(graph, "NoSuchOp", "bad"), status) == NULL);
  EXPECT(PS_GetCode(status) == PS_NOT_FOUND && strstr(PS_Message(status), "NoSuchOp") != NULL);
  PS_NodeBuilder* node = PS_NewNode(graph, "AddV2", "bad");
  PS_NodeInput(node, "x");
  EXPECT(PS_FinishNode(node, status) == NULL);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT && strstr(PS_Message(status), "bad") != NULL);
  node = PS_NewNode(graph, "AddV2", "bad");
  PS_NodeInput(node, "x:7");
  EXPECT(PS_FinishNode(node, status) == NULL && PS_GetCode(status) == PS_INVALID_ARGUMENT);
  EXPECT(PS_FinishNode(PS_NewNode(NULL, "NoOp", "n"), status) == NULL &&
         PS_GetCode(status) == PS_INVALID_ARGUMENT);
  EXPECT(PS_FinishNode(NULL, status) == NULL && PS_GetCode(status) == PS_INVALID_ARGUMENT);
}

static int released = 0;
static void Release(void* context) {
  free(context);
  ++released;
}

static void Tensors(PS_Status* status) {
  const int64_t absurd[] = {INT64_MAX, 16};
  EXPECT(PS_NewTensor(PS_FLOAT, absurd, 2, status) == NULL &&
         PS_GetCode(status) == PS_INVALID_ARGUMENT);
  EXPECT(PS_NewTensor(999, NULL, 0, status) == NULL && PS_GetCode(status) == PS_INVALID_ARGUMENT);
  EXPECT(PS_NewTensor(PS_FLOAT, NULL, 3, status) == NULL &&
         PS_GetCode(status) == PS_INVALID_ARGUMENT);

  const int64_t dims[] = {2, 2};
  double* memory = calloc(4, sizeof(double));
  PS_Tensor* view = PS_NewTensorFromMemory(PS_DOUBLE, dims, 2, memory, 4 * sizeof(double), Release,
                                           memory, status);
  EXPECT_OK(status);
  EXPECT(PS_TensorData(view) == memory && PS_TensorBytes(view) == 32 && PS_TensorSize(view) == 4);
  PS_DeleteTensor(view);
  EXPECT(released == 1);

  const int64_t one = 1;
  PS_Tensor* text = PS_NewTensor(PS_STRING, &one, 1, status);
  PS_TensorSetString(text, 0, "a\0b", 3, status);
  EXPECT_OK(status);
  size_t length = 0;
  const char* bytes = PS_TensorString(text, 0, &length, status);
  EXPECT(length == 3 && memcmp(bytes, "a\0b", 3) == 0);
  EXPECT(PS_TensorString(text, 1, &length, status) == NULL &&
         PS_GetCode(status) == PS_INVALID_ARGUMENT);
  EXPECT(PS_TensorData(text) == NULL);
  PS_DeleteTensor(text);
  PS_DeleteTensor(NULL);
}

int main(void) {
  PS_Status* status = PS_NewStatus();
  PS_Graph* graph = PS_NewGraph();
  EXPECT(strchr(PS_Version(), '.') != NULL);
  Build(graph, status);
  Run(graph, status);
  RunInPieces(graph, status);
  BadNodes(graph, status);
  EXPECT(PS_GraphNumNodes(graph) == 4);

  /* Out to a GraphDef and in again. */
  size_t bytes = 0;
  void* wire = PS_GraphExport(graph, &bytes, status);
  EXPECT_OK(status);
  PS_Graph* copy = PS_NewGraph();
  PS_GraphImport(copy, wire, bytes, status);
  EXPECT_OK(status);
  EXPECT(PS_GraphNumNodes(copy) == 4);
  Run(copy, status);
  PS_GraphImport(copy, wire, bytes, status);
  EXPECT(PS_GetCode(status) == PS_INVALID_ARGUMENT &&
         PS_GraphNumNodes(copy) == 4); /* the names are taken */
  PS_GraphImport(copy, "\xff\xff\xff", 3, status);
  EXPECT(PS_GetCode(status) != PS_OK);
  PS_Free(wire);
  PS_DeleteGraph(copy);

  Tensors(status);
  PS_DeleteGraph(graph);
  PS_DeleteStatus(status);
  printf(failures == 0 ? "c_api_test: passed\n" : "c_api_test: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
