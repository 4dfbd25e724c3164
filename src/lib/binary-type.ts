import { headText } from './media-type.js';

/** Includes the mark of a tar archive. */
const HEADER_BYTES = 512;

/** Kinds of files that are neither text nor media that a model takes, by their first bytes as Latin-1. */
const KINDS: readonly (readonly [kind: string, header: RegExp])[] = [
  ['ELF program or library', /^\x7fELF/],
  ['Windows program or library', /^MZ/],
  ['Java class', /^\xca\xfe\xba\xbe\0[^]\0[\x2d-\xff]/],
  ['macOS program or library', /^(\xca\xfe\xba\xbe|\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe)/],
  ['WebAssembly module', /^\0asm/],
  ['LLVM bitcode', /^BC\xc0\xde/],
  ['zip archive, or a document or package made as one', /^PK(\x03\x04|\x05\x06)/],
  ['gzip archive', /^\x1f\x8b/],
  ['bzip2 archive', /^BZh[1-9]/],
  ['xz archive', /^\xfd7zXZ\0/],
  ['zstd archive', /^\x28\xb5\x2f\xfd/],
  ['7z archive', /^7z\xbc\xaf\x27\x1c/],
  ['RAR archive', /^Rar!\x1a\x07/],
  ['tar archive', /^[^]{257}ustar/],
  ['archive of object files', /^!<arch>\n/],
  ['SQLite database', /^SQLite format 3\0/],
  ['git index', /^DIRC\0/],
  ['git pack', /^PACK\0/],
  ['Parquet table', /^PAR1/],
  ['old Microsoft Office document', /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/],
  ['font', /^(wOF[F2]|\0\x01\0\0\0|OTTO|ttcf)/],
  ['icon', /^\0\0[\x01\x02]\0[^]\0/],
  ['TIFF image', /^(II\*\0|MM\0\*)/],
  ['AVIF image', /^[^]{4}ftyp(avi[fs]|mif1|msf1)/],
  ['JPEG XL or JPEG 2000 image', /^(\xff\x0a|\0\0\0\x0c(JXL|jP) )/],
  ['Photoshop image', /^8BPS/],
  ['Matroska video', /^\x1a\x45\xdf\xa3/],
  ['Ogg video', /^OggS/],
  ['Windows Media audio or video', /^\x30\x26\xb2\x75\x8e\x66\xcf\x11/],
  ['UTF-16 text without a byte order mark', /^(?:[\t\n\r -~]\0){8}/],
  ['UTF-16 text without a byte order mark', /^(?:\0[\t\n\r -~]){8}/],
  ['file of zeros', /^\0{512}$/],
];

/** What to call a binary file: `a binary file of 42 bytes (gzip archive)`. */
export function describeBinary(bytes: Uint8Array): string {
  const header = headText(bytes, HEADER_BYTES);
  const kind = KINDS.find(([, signature]) => signature.test(header))?.[0];
  return `a binary file of ${bytes.length} bytes${kind === undefined ? '' : ` (${kind})`}`;
}
