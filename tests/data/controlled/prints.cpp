// A queue that prints, formats and opens files as it goes. Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>
#include <iostream>

struct Queue {
    static constexpr auto model = "fifo";
    std::mutex mutex;
    std::deque<int64_t> values;
    std::vector<char *> copies;

    ~Queue() {
        for (char *copy : copies) free(copy);
    }
    bool enqueue(int64_t value) {
        std::lock_guard lock(mutex);
        time_t now = 0;
        assert(localtime(&now) != nullptr);
        printf("value %ld\n", value);
        std::cout << "value " << value << 1.5 << "\n";
        std::ostringstream text;
        text << value << 0.5;
        copies.push_back(strdup(text.str().c_str()));
        FILE *file = fopen("/dev/null", "w");
        assert(file != nullptr && fprintf(file, "%ld", value) > 0);
        fclose(file);
        values.push_back(value);
        return true;
    }
    bool dequeue(int64_t &value) {
        std::lock_guard lock(mutex);
        if (values.empty()) return false;
        assert(!copies.empty() && strlen(copies.back()) > 0);
        value = values.front();
        values.pop_front();
        return true;
    }
};
INTERLAP_TARGET(Queue)
