/* Annotations for race detectors, which libraries call when compiled with -fsanitize=thread. They
 * have no effect here; without them the target could not be loaded. Names: LLVM compiler-rt,
 * include/sanitizer/tsan_interface.h and lib/tsan/rtl/tsan_interface_ann.h. */
#define EXPORT __attribute__((visibility("default")))
/* Called with more arguments than declared, which the C calling conventions of x86-64 and AArch64
 * allow. */
#define NOTHING(NAME) EXPORT void NAME(void) {}

NOTHING(AnnotateHappensBefore) NOTHING(AnnotateHappensAfter) NOTHING(AnnotateCondVarSignal)
NOTHING(AnnotateCondVarSignalAll) NOTHING(AnnotateCondVarWait) NOTHING(AnnotateMutexIsNotPHB)
NOTHING(AnnotateMutexIsUsedAsCondVar) NOTHING(AnnotateRWLockCreate)
NOTHING(AnnotateRWLockCreateStatic) NOTHING(AnnotateRWLockDestroy) NOTHING(AnnotateRWLockAcquired)
NOTHING(AnnotateRWLockReleased) NOTHING(AnnotateTraceMemory) NOTHING(AnnotateFlushState)
NOTHING(AnnotateNewMemory) NOTHING(AnnotateNoOp) NOTHING(AnnotateFlushExpectedRaces)
NOTHING(AnnotateEnableRaceDetection) NOTHING(AnnotatePCQGet) NOTHING(AnnotatePCQPut)
NOTHING(AnnotatePCQDestroy) NOTHING(AnnotatePCQCreate) NOTHING(AnnotateExpectRace)
NOTHING(AnnotateBenignRace) NOTHING(AnnotateBenignRaceSized) NOTHING(AnnotateIgnoreReadsBegin)
NOTHING(AnnotateIgnoreReadsEnd) NOTHING(AnnotateIgnoreWritesBegin)
NOTHING(AnnotateIgnoreWritesEnd) NOTHING(AnnotateIgnoreSyncBegin) NOTHING(AnnotateIgnoreSyncEnd)
NOTHING(AnnotatePublishMemoryRange) NOTHING(AnnotateUnpublishMemoryRange)
NOTHING(AnnotateThreadName) NOTHING(AnnotateMemoryIsInitialized)
NOTHING(AnnotateMemoryIsUninitialized) NOTHING(__tsan_acquire) NOTHING(__tsan_release)
NOTHING(__tsan_mutex_create) NOTHING(__tsan_mutex_destroy) NOTHING(__tsan_mutex_pre_lock)
NOTHING(__tsan_mutex_post_lock) NOTHING(__tsan_mutex_post_unlock)
NOTHING(__tsan_mutex_pre_signal) NOTHING(__tsan_mutex_post_signal)
NOTHING(__tsan_mutex_pre_divert) NOTHING(__tsan_mutex_post_divert) NOTHING(__tsan_ignore_thread_begin)
NOTHING(__tsan_ignore_thread_end) NOTHING(__tsan_external_read) NOTHING(__tsan_external_write)
NOTHING(__tsan_switch_to_fiber) NOTHING(__tsan_destroy_fiber) NOTHING(__tsan_set_fiber_name)

EXPORT int __tsan_mutex_pre_unlock(void) { return 0; }
EXPORT void *__tsan_external_register_tag(void) { return (void *)1; }
EXPORT void *__tsan_get_current_fiber(void) { return (void *)1; }
EXPORT void *__tsan_create_fiber(void) { return (void *)1; }
EXPORT int RunningOnValgrind(void) { return 0; }
EXPORT double ValgrindSlowdown(void) { return 1.0; }
EXPORT const char *ThreadSanitizerQuery(void) { return "0"; }
