// PostgreSQL's frontend/backend protocol 3, chapter "Message Formats": after the start-up every message of the client is one type byte and a length
// of four bytes that counts itself. Start-up messages have no type byte.
const SSL_REQUEST = 80877103;
const GSS_ENCRYPTION_REQUEST = 80877104;
const SYNC = 0x53;
const QUERY = 0x51;
const FUNCTION_CALL = 0x46;
const HEADER_BYTES = 5;

export interface FrontendParser {
  /** Takes what the client sent and returns what goes on to the server. */
  pass(data: Buffer): Buffer;
}

interface Reactions {
  onRoundTrip(): void;
  /** The client says what it is called (`application_name`). */
  onName?(name: string): void;
  /** The client asks for TLS or GSS, which would make its messages unreadable here. It is refused, and the client goes on in plain text. */
  refuseEncryption(): void;
}

/** Follows the client's side of one connection. Bodies are skipped, never kept; start-up messages are short and are kept until complete. */
export function createFrontendParser(reactions: Reactions): FrontendParser {
  let startup: Buffer | undefined = Buffer.alloc(0);
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let bodyLeft = 0;

  function follow(data: Buffer): void {
    let at = 0;
    while (at < data.length) {
      if (bodyLeft > 0) {
        const skipped = Math.min(bodyLeft, data.length - at);
        bodyLeft -= skipped;
        at += skipped;
        continue;
      }
      const taken = Math.min(HEADER_BYTES - headerBytes, data.length - at);
      data.copy(header, headerBytes, at, at + taken);
      headerBytes += taken;
      at += taken;
      if (headerBytes < HEADER_BYTES) return;
      headerBytes = 0;
      bodyLeft = header.readUInt32BE(1) - 4;
      if (header[0] === SYNC || header[0] === QUERY || header[0] === FUNCTION_CALL) reactions.onRoundTrip();
    }
  }

  function begin(data: Buffer): Buffer {
    let pending = data;
    while (pending.length >= 8 && pending.length >= pending.readUInt32BE(0)) {
      const length = pending.readUInt32BE(0);
      const code = pending.readUInt32BE(4);
      if (code !== SSL_REQUEST && code !== GSS_ENCRYPTION_REQUEST) {
        // this is the real start (or a cancel request, after which nothing follows)
        startup = undefined;
        const name = /\0application_name\0([^\0]*)\0/.exec(pending.toString("utf8", 0, length))?.[1];
        if (name !== undefined) reactions.onName?.(name);
        follow(pending.subarray(length));
        return pending;
      }
      reactions.refuseEncryption();
      pending = pending.subarray(length);
    }
    startup = pending;
    return Buffer.alloc(0);
  }

  return {
    pass(data) {
      if (startup !== undefined) return begin(Buffer.concat([startup, data]));
      follow(data);
      return data;
    },
  };
}
