// What the libcds queues and stacks share.
#ifndef INTERLAP_TARGETS_CDS_QUEUE_HPP
#define INTERLAP_TARGETS_CDS_QUEUE_HPP

#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

namespace targets {

template <class Queue, template <class> class Life = CdsContainer>
struct CdsQueue : Life<Queue> {
    using Local = typename Life<Queue>::Local;
    using Life<Queue>::Life;

    bool enqueue(Local &, int64_t value) { return this->container->enqueue(value); }
    bool dequeue(Local &, int64_t &value) { return this->container->dequeue(value); }
};

// Flat combining: one container for the whole process, cleared for each round. Its destructor frees
// the records of threads that live on and still name them in thread-local storage, so another
// container at the same address would use freed memory (version 2.3.3, ~kernel in
// cds/algo/flat_combining/kernel.h; Boost.Thread asks that a thread_specific_ptr be destroyed only
// after every other thread's value is gone). To see it: --cflag -DDESTROY
template <class Container> struct CdsCombined {
    static constexpr auto version = CDS_VERSION_STRING;
    struct Local {
        Local(CdsCombined &, unsigned) {}
    };

#ifdef DESTROY
    Container *container = new Container;
    ~CdsCombined() { delete container; }
#else
    Container *container = the_one();
    static Container *the_one() {
        static auto *one = new Container;
        one->clear();
        return one;
    }
#endif
};

template <class Stack, template <class> class Life = CdsContainer>
struct CdsStack : Life<Stack> {
    using Local = typename Life<Stack>::Local;
    using Life<Stack>::Life;

    bool push(Local &, int64_t value) { return this->container->push(value); }
    bool pop(Local &, int64_t &value) { return this->container->pop(value); }
};

// The smallest value has the highest priority.
template <class Queue, template <class> class Life = CdsContainer>
struct CdsPriorityQueue : Life<Queue> {
    using Local = typename Life<Queue>::Local;
    using Life<Queue>::Life;

    bool insert(Local &, int64_t value) { return this->container->push(value); }
    bool poll(Local &, int64_t &value) { return this->container->pop(value); }
};

} // namespace targets
#endif
