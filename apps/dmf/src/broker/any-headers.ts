/** The parts of amqplib's connection that matter here: what it has read and not yet taken apart, and how it reads the next frame of it. */
interface FrameSource {
  rest?: Buffer;
  recvFrame?: () => unknown;
}

const headerFrame = 2;
/** Type, channel and size. */
const prefixBytes = 7;

/**
 * Has a connection of amqplib give a message whose headers it cannot read with the property `unreadable` in place of all others, so that it can be
 * refused. Tables in tables, thousands deep, are more than amqplib can take apart and less than the broker refuses: without this the connection ends at
 * such a message, which comes again with the next one, for ever, and so do all behind it. It throws where the connection is not as expected, so that no
 * other version of the library runs without.
 */
export function readAnyHeaders(connection: object): void {
  const source = connection as FrameSource;
  const { recvFrame } = source;
  if (typeof recvFrame !== "function" || !Buffer.isBuffer(source.rest))
    throw new Error("the AMQP library reads frames in another way: headers that it cannot read would end its connection again and again");
  source.recvFrame = () => {
    const { rest = Buffer.alloc(0) } = source;
    try {
      return recvFrame.call(source);
    } catch (error) {
      const header = headerOf(rest);
      if (header === undefined || source.rest === rest) throw error;
      return header;
    }
  };
}

/** The frame at the beginning, without the properties, if it is that of a message's headers. */
function headerOf(bytes: Buffer): object | undefined {
  if (bytes.length < prefixBytes + 12 || bytes.readUInt8(0) !== headerFrame) return undefined;
  return {
    id: bytes.readUInt16BE(prefixBytes),
    channel: bytes.readUInt16BE(1),
    size: Number(bytes.readBigInt64BE(prefixBytes + 4)),
    fields: { unreadable: true },
  };
}
