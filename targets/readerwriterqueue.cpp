// moodycamel::ReaderWriterQueue, one producer and one consumer, growing block by block.
//
// Guarantee: FIFO for one producer and one consumer; try_dequeue answers false only if the queue
// was empty.
// Source: README of readerwriterqueue; the comments in readerwriterqueue.h.
#include <interlap.hpp>
#include <readerwriterqueue/readerwriterqueue.h>

struct Target {
    static constexpr auto library = "moodycamel::ReaderWriterQueue";
    static constexpr auto model = "fifo";
    static constexpr bool one_producer = true;
    static constexpr bool one_consumer = true;
    static constexpr unsigned block_size = 4;

    // Blocks of at most 4 and room for 3 at first, so that short rounds add blocks.
    moodycamel::ReaderWriterQueue<int64_t, block_size> queue{3};

    bool enqueue(int64_t value) { return queue.enqueue(value); }
    bool dequeue(int64_t &value) { return queue.try_dequeue(value); }
};
INTERLAP_TARGET(Target)
