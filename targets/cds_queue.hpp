// What the libcds queues and stacks share.
#ifndef INTERLAP_TARGETS_CDS_QUEUE_HPP
#define INTERLAP_TARGETS_CDS_QUEUE_HPP

#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

namespace targets {

template <class Queue> struct CdsQueue : CdsContainer<Queue> {
    static constexpr auto model = "fifo";
    using Local = typename CdsContainer<Queue>::Local;
    using CdsContainer<Queue>::CdsContainer;

    bool enqueue(Local &, int64_t value) { return this->container->enqueue(value); }
    bool dequeue(Local &, int64_t &value) { return this->container->dequeue(value); }
};

template <class Stack> struct CdsStack : CdsContainer<Stack> {
    static constexpr auto model = "lifo";
    using Local = typename CdsContainer<Stack>::Local;
    using CdsContainer<Stack>::CdsContainer;

    bool push(Local &, int64_t value) { return this->container->push(value); }
    bool pop(Local &, int64_t &value) { return this->container->pop(value); }
};

// The smallest value has the highest priority.
template <class Queue> struct CdsPriorityQueue : CdsContainer<Queue> {
    static constexpr auto model = "priority-queue";
    using Local = typename CdsContainer<Queue>::Local;
    using CdsContainer<Queue>::CdsContainer;

    bool insert(Local &, int64_t value) { return this->container->push(value); }
    bool poll(Local &, int64_t &value) { return this->container->pop(value); }
};

} // namespace targets
#endif
