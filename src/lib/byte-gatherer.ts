export interface ByteGatherer {
  readonly size: number;
  /** Copies the bytes: where they came from may be used for something else. */
  add(piece: Uint8Array): void;
  /** All bytes since the last time. */
  take(): Buffer<ArrayBuffer>;
}

/** Room that is given back once it was used; what comes often is small. */
const SMALL = 4096;

/** Puts pieces together, in linear time and little room however small they are. */
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
