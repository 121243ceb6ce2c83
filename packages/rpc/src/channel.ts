import { isIPv4, isIPv6 } from "node:net";
import { ChannelCredentials, type ChannelOptions, ServerCredentials } from "@grpc/grpc-js";
import type { RpcTls } from "./types.ts";

const largestMessage = 16 * 1024 * 1024; // 50,000 new targets in one command stay below it

/** So long a channel waits between two attempts to connect at most, but for a fifth that gRPC adds by chance. */
export const reconnectEveryMs = 500;

/**
 * The options of every channel. The back-off is short: when one replica ends just after another has come back, the calls wait for the connection to
 * that one, and none of them waits longer than a device does. The ping detects a peer that has vanished silently.
 */
export const channelOptions: ChannelOptions = {
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": reconnectEveryMs,
  "grpc.dns_min_time_between_resolutions_ms": 5_000,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 3_000,
  "grpc.keepalive_permit_without_calls": 1,
  "grpc.max_receive_message_length": largestMessage,
  "grpc.max_send_message_length": largestMessage,
};

export const serverOptions: ChannelOptions = {
  "grpc.max_receive_message_length": largestMessage,
  "grpc.max_send_message_length": largestMessage,
};

/** Makes a gRPC target of `127.0.0.1:1,127.0.0.1:2`, or of one `name:port`, whose every address is used. */
export function targetOf(addresses: string): string {
  const list = addresses
    .split(",")
    .map((address) => address.trim().replace(/^localhost:/, "127.0.0.1:"))
    .filter((address) => address !== "");
  const hosts = list.map((address) => hostOf(address));
  if (list.length > 0 && hosts.every((host) => isIPv4(host))) return `ipv4:${list.join(",")}`;
  if (list.length > 0 && hosts.every((host) => isIPv6(host))) return `ipv6:${list.join(",")}`;
  if (list.length === 1) return `dns:///${list[0]}`;
  throw new Error(`gRPC addresses "${addresses}": give IP addresses of one family with ports, or one name with a port`);
}

function hostOf(address: string): string {
  const match = /^\[?(.+?)\]?:\d+$/.exec(address);
  if (match?.[1] === undefined) throw new Error(`gRPC address "${address}" has no port`);
  return match[1];
}

/** Makes the credentials of a client: plain on loopback, otherwise mutual TLS. */
export function clientCredentials(tls: RpcTls | undefined): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure();
  return ChannelCredentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));
}

/** Makes the credentials of a server; with TLS a caller without a certificate of our authority is refused. */
export function serverCredentials(tls: RpcTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(Buffer.from(tls.ca), [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }], true);
}
