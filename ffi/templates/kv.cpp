// NAME: strings under keys, under test. (These first lines are shown by `interlap targets`; say
// what it is.)
//
// Guarantee: linearizable; an append adds to what is there, whoever put it there.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the store that you want to test, or the header that has it.
#include <map>
#include <mutex>

struct Target {
    // What it promises; without this line: "kv".
    static constexpr auto model = "kv";

    std::mutex mutex;
    std::map<std::string, std::string> values;

    std::string get(const std::string &key) { // empty where nothing was put
        std::lock_guard<std::mutex> guard(mutex);
        auto found = values.find(key);
        return found == values.end() ? std::string() : found->second;
    }
    // A put or an append that may or may not have happened (a timeout) returns
    // interlap::status::unknown; let the method return interlap::status then.
    void put(const std::string &key, const std::string &value) {
        std::lock_guard<std::mutex> guard(mutex);
        values[key] = value;
    }
    // Leave this out if the store has none.
    void append(const std::string &key, const std::string &value) {
        std::lock_guard<std::mutex> guard(mutex);
        values[key] += value;
    }
    // What each thread needs for itself (a session, a connection) goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
