import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/** A signature and its key. Both are base64; the key is in SPKI. */
export interface Signature {
  readonly key: string;
  readonly value: string;
}

/** What an ed25519 key in SPKI begins with. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** The private key in a PEM text. Throws if there is none. */
export function privateKeyIn(pem: Buffer): KeyObject {
  return checked(createPrivateKey(pem));
}

/** The public key in a text, as SPKI in base64: PEM, or base64 of SPKI or of the 32 bytes. Undefined if it is neither. */
export function publicKeyIn(text: string): string | undefined {
  if (text.includes('-----BEGIN')) return spkiOf(checked(createPublicKey(text)));
  if (!/^[A-Za-z0-9+/]{43,59}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const key = bytes.length === 32 ? Buffer.concat([SPKI_HEAD, bytes]) : bytes;
  if (key.length !== 44) return undefined;
  return spkiOf(checked(createPublicKey({ key, format: 'der', type: 'spki' })));
}

export function signatureOf(bytes: Buffer, key: KeyObject): Signature {
  return { key: spkiOf(createPublicKey(key)), value: sign(null, bytes, key).toString('base64') };
}

export function isSigned(bytes: Buffer, { key, value }: Signature): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
    return (
      publicKey.asymmetricKeyType === 'ed25519' &&
      verify(null, bytes, publicKey, Buffer.from(value, 'base64'))
    );
  } catch {
    return false;
  }
}

function spkiOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

function checked(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`it is a key for ${key.asymmetricKeyType}, not for ed25519`);
  return key;
}
