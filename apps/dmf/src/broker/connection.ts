import { type ChannelModel, connect } from "amqplib";

const connectMs = 10_000;
const heartbeatSeconds = 10;
const answerMs = 8_000;

export interface Place {
  /** The broker's address with user and password, without a virtual host. */
  readonly url: string;
  readonly vhost: string;
}

/** Connects to a virtual host; the broker's operator sees the connection by this name. */
export function connectTo({ url, vhost }: Place, name: string): Promise<ChannelModel> {
  const address = new URL(url);
  address.pathname = `/${encodeURIComponent(vhost)}`;
  address.searchParams.set("heartbeat", String(heartbeatSeconds));
  return connect(address.href, { timeout: connectMs, clientProperties: { connection_name: name } });
}

/** Rejects when the connection ends, with its reason if there is one, or the broker does not answer in time. */
export function orTimeout<T>(work: Promise<T>, ended: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error("the broker does not answer")), answerMs);
    const onEnd = () => reject(ended.reason instanceof DOMException ? new Error("the connection has ended") : ended.reason);
    ended.addEventListener("abort", onEnd, { once: true });
    if (ended.aborted) onEnd();
    work.then(resolve, reject).finally(() => {
      clearTimeout(limit);
      ended.removeEventListener("abort", onEnd);
    });
  });
}
