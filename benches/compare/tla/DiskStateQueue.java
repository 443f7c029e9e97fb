package tlc2.tool.queue;

import java.util.ArrayDeque;
import tlc2.tool.TLCState;

/**
 * A stack in place of the queue of TLC 2.15, under the name of that: found before the one of
 * tla2tools.jar, it makes TLC look depth first. A later TLC has such a class, StateDeque, and an
 * option for it.
 */
public class DiskStateQueue extends StateQueue {
    private final ArrayDeque<TLCState> states = new ArrayDeque<>();

    public DiskStateQueue(String directory) {}

    void enqueueInner(TLCState state) {
        states.addFirst(state);
    }

    TLCState dequeueInner() {
        return states.removeFirst();
    }

    TLCState peekInner() {
        return states.peekFirst();
    }

    public void beginChkpt() {}

    public void commitChkpt() {}

    public void recover() {}
}
