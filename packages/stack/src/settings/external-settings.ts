import { StartError } from "../start-error.ts";
import type { Value } from "./read-value.ts";

export interface S3Settings {
  endpoint: string;
  accessKey: string;
  secretKey: string;
  bucket: string;
  /** The address at which devices reach the store. */
  publicEndpoint?: string;
}

/** The message broker of devices that speak DMF. */
export interface AmqpSettings {
  /** As the services connect, with user and password. */
  url: string;
  /** Its management interface, with user and password. */
  managementUrl: string;
  /** As devices and users connect; absent means as the services do. */
  publicUrl?: string;
}

export const s3Names = {
  endpoint: "HARRIER_S3_ENDPOINT",
  accessKey: "HARRIER_S3_ACCESS_KEY",
  secretKey: "HARRIER_S3_SECRET_KEY",
  bucket: "HARRIER_S3_BUCKET",
};
export const s3PublicName = "HARRIER_S3_PUBLIC_ENDPOINT";
export const amqpNames = { url: "HARRIER_AMQP_URL", managementUrl: "HARRIER_AMQP_MANAGEMENT_URL" };

/** Reads the brokers of Kafka, without blanks. */
export function readBrokers(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const brokers = text.split(",").map((broker) => broker.trim());
  if (!brokers.every((broker) => /^(\[[0-9a-f:]+\]|[^\s:,/]+):\d{1,5}$/i.test(broker)))
    throw new StartError(`HARRIER_KAFKA_BROKERS must be host:port[,host:port], not "${text}"`);
  return brokers.join(",");
}

/** Reads the bucket of the artifacts: all of its settings, or none. */
export function readS3(value: Value): S3Settings | undefined {
  const found = Object.entries(s3Names).map(([key, name]) => ({ key, name, text: value(name) }));
  const first = found.find(({ text }) => text !== undefined);
  const publicEndpoint = value(s3PublicName);
  if (first === undefined) {
    if (publicEndpoint !== undefined) throw new StartError(`${s3PublicName} is given, but ${s3Names.endpoint} is not`);
    return undefined;
  }
  const missing = found.find(({ text }) => text === undefined);
  if (missing !== undefined)
    throw new StartError(`${missing.name} is missing: ${first.name} is given, and S3 needs ${Object.values(s3Names).join(", ")}`);
  const s3 = Object.fromEntries(found.map(({ key, text }) => [key, text])) as unknown as S3Settings;
  checkEndpoint(s3Names.endpoint, s3.endpoint);
  if (publicEndpoint === undefined) return s3;
  checkEndpoint(s3PublicName, publicEndpoint);
  return { ...s3, publicEndpoint };
}

function checkEndpoint(name: string, text: string): void {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new StartError(`${name} must be a URL like http://127.0.0.1:9000, not "${text}"`);
}

/** Reads the addresses of the message broker: both of ours, or none. */
export function readAmqp(value: Value): AmqpSettings | undefined {
  const [url, managementUrl, publicUrl] = [value(amqpNames.url), value(amqpNames.managementUrl), value("HARRIER_AMQP_PUBLIC_URL")];
  if (url === undefined && managementUrl === undefined && publicUrl === undefined) return undefined;
  if (url === undefined || managementUrl === undefined)
    throw new StartError(
      `${url === undefined ? amqpNames.url : amqpNames.managementUrl} is missing: messaging needs both addresses of the broker`,
    );
  // the first two contain passwords, so their values are not shown
  checkUrl(url, /^amqps?:$/, `${amqpNames.url} must be a URL like amqp://user:password@host:5672`);
  checkUrl(managementUrl, /^https?:$/, `${amqpNames.managementUrl} must be a URL like http://user:password@host:15672`);
  if (publicUrl === undefined) return { url, managementUrl };
  checkUrl(publicUrl, /^amqps?:$/, `HARRIER_AMQP_PUBLIC_URL must be a URL like amqps://broker.example.com:5671, not "${publicUrl}"`);
  return { url, managementUrl, publicUrl };
}

function checkUrl(text: string, protocol: RegExp, message: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !protocol.test(url.protocol) || url.hostname === "") throw new StartError(message);
}
