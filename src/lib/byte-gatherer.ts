export interface ByteGatherer {
  readonly size: number;
  /** Copies the bytes: the caller may reuse their memory. */
  add(piece: Uint8Array): void;
  /** All bytes since the last call. */
  take(): Buffer<ArrayBuffer>;
}

/** Larger buffers are released after use; frequent output is small. */
const SMALL = 4096;

/** Joins pieces in linear time and little memory, however small they are. */
export function byteGatherer(): ByteGatherer {
  let room = Buffer.alloc(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(piece) {
      const needed = size + piece.length;
      if (needed > room.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * room.length, SMALL));
        room.copy(larger, 0, 0, size);
        room = larger;
      }
      room.set(piece, size);
      size = needed;
    },
    take() {
      const whole = room.subarray(0, size);
      room = Buffer.alloc(0);
      size = 0;
      return whole;
    },
  };
}
