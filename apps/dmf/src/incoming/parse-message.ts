import {
  type DmfAttributes,
  dmfActionUpdate,
  dmfAttributes,
  dmfAutoConfirm,
  dmfThing,
  isReplyExchange,
  isStorable,
  newControllerId,
} from "@harrier/contracts";
import { z } from "zod";
import { maxMessageBytes } from "../broker/message-limit.ts";

/** A message as the broker gives it. */
export interface RawMessage {
  readonly content: Buffer;
  readonly properties: {
    readonly headers?: Readonly<Record<string, unknown>> | undefined;
    readonly contentType?: unknown;
    readonly correlationId?: unknown;
    readonly replyTo?: unknown;
    /** The headers, with all other properties, are more than can be read (broker/any-headers.ts). */
    readonly unreadable?: unknown;
  };
}

/** A message that can be handled. */
export type Incoming =
  | {
      kind: "registration";
      thingId: string;
      replyTo: string;
      name?: string | undefined;
      type?: string | undefined;
      attributes?: DmfAttributes | undefined;
    }
  | { kind: "removal"; thingId: string }
  | { kind: "attributes"; thingId: string; attributes: DmfAttributes }
  | { kind: "status"; actionId: number; status: string; messages: string[]; code?: number | undefined; timestamp?: number | undefined }
  | { kind: "auto-confirm"; thingId: string; enabled: boolean; initiator?: string | undefined; remark?: string | undefined }
  | { kind: "ping"; replyTo: string; correlationId: string }
  | { kind: "ignored" };

/** Why a message is refused, as metrics count it. */
export const refusalKinds = [
  "too-large",
  "headers",
  "missing-type",
  "unknown-type",
  "tenant",
  "missing-thing",
  "missing-topic",
  "unknown-topic",
  "missing-reply-to",
  "content-type",
  "body",
  "unknown-action",
  "denied",
  "failed",
] as const;
export type RefusalKind = (typeof refusalKinds)[number];

/** Thrown for what goes to the dead letters. The reason shows no more of the message than its kind needs. */
export class RefusedMessage extends Error {
  readonly kind: RefusalKind;
  /** `cause` is a failure that nobody expects: it is logged, and shown to no tenant. */
  constructor(kind: RefusalKind, reason: string, cause?: unknown) {
    super(reason.slice(0, 300).toWellFormed(), { cause });
    this.kind = kind;
  }
}

const controllerId = newControllerId(z.string().trim().min(1).max(256));
const correlationPrefix = "Update Server: DMF message correlation-id ";

/** Reads a message of the tenant whose virtual host it came from (contract rollouts.md §8.2, §8.3); throws RefusedMessage. */
export function parseMessage(message: RawMessage, tenant: string): Incoming {
  const { headers = {}, correlationId } = message.properties;
  if (message.content.length > maxMessageBytes) throw new RefusedMessage("too-large", `the message has more than ${maxMessageBytes} bytes`);
  if (message.properties.unreadable === true) throw new RefusedMessage("headers", "the headers are too deep, or otherwise cannot be read");
  const type = text(headers["type"]);
  if (type === undefined) throw new RefusedMessage("missing-type", "there is no header type");
  const named = text(headers["tenant"]);
  if (named?.toLowerCase() !== tenant.toLowerCase())
    throw new RefusedMessage("tenant", named === undefined ? "there is no header tenant" : "the header tenant names another tenant");
  switch (type) {
    case "THING_CREATED":
      return registration(message, thingOf(headers));
    case "THING_REMOVED":
      return { kind: "removal", thingId: thingOf(headers) };
    case "PING":
      // hawkBit does not answer it either
      if (text(correlationId) === undefined) return { kind: "ignored" };
      return { kind: "ping", replyTo: replyToOf(message), correlationId: text(correlationId) as string };
    case "EVENT":
      return event(message);
    default:
      throw new RefusedMessage("unknown-type", "the header type is unknown");
  }
}

function registration(message: RawMessage, thingId: string): Incoming {
  const replyTo = replyToOf(message);
  const body = message.content.toString("utf8").trim();
  if (body === "" || body === '""') return { kind: "registration", thingId, replyTo };
  const { name, type, attributeUpdate } = bodyOf(message, dmfThing);
  return { kind: "registration", thingId, replyTo, name, type, attributes: attributeUpdate };
}

function event(message: RawMessage): Incoming {
  const { headers = {}, correlationId } = message.properties;
  const topic = text(headers["topic"]);
  switch (topic) {
    case undefined:
      throw new RefusedMessage("missing-topic", "there is no header topic");
    case "UPDATE_ATTRIBUTES":
      return { kind: "attributes", thingId: thingOf(headers), attributes: bodyOf(message, dmfAttributes) };
    case "UPDATE_AUTO_CONFIRM":
      return { kind: "auto-confirm", thingId: thingOf(headers), ...bodyOf(message, dmfAutoConfirm) };
    case "UPDATE_ACTION_STATUS": {
      const { actionId, actionStatus: status, message: messages, code, timestamp } = bodyOf(message, dmfActionUpdate);
      const id = text(correlationId);
      if (id !== undefined && !isStorable(id)) throw new RefusedMessage("body", "the correlation id contains a NUL");
      if (id !== undefined && messages === undefined)
        throw new RefusedMessage("body", "a status with a correlation id has no member message");
      const all = [...(messages ?? []), ...(id === undefined ? [] : [correlationPrefix + id])];
      return { kind: "status", actionId, status, messages: all, code, timestamp };
    }
    default:
      throw new RefusedMessage("unknown-topic", "the header topic is unknown");
  }
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function thingOf(headers: Readonly<Record<string, unknown>>): string {
  const read = controllerId.safeParse(headers["thingId"]);
  if (read.success) return read.data;
  throw new RefusedMessage("missing-thing", "the header thingId is missing, or no id of a target");
}

function replyToOf({ properties: { replyTo } }: RawMessage): string {
  const name = text(replyTo);
  if (name === undefined) throw new RefusedMessage("missing-reply-to", "there is no property reply_to");
  if (!isReplyExchange(name))
    throw new RefusedMessage("missing-reply-to", "reply_to names an exchange of the broker, or none that there can be");
  return name;
}

function bodyOf<T>({ content, properties }: RawMessage, schema: z.ZodType<T>): T {
  if (typeof properties.contentType !== "string" || !properties.contentType.toLowerCase().includes("json"))
    throw new RefusedMessage("content-type", "the property content_type is not JSON");
  const read = schema.safeParse(readJson(content));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new RefusedMessage("body", `${memberOf(issue?.path ?? []) || "the body"}: ${issue?.message ?? "is not as expected"}`);
}

/** The member that is wrong, by the names of the contract alone: what a thing calls its attributes is its own. */
function memberOf(path: readonly PropertyKey[]): string {
  const attributes = path.indexOf("attributes");
  return path.slice(0, attributes < 0 ? path.length : attributes + 1).join(".");
}

/** In JSON, what PostgreSQL cannot store is written by its escape alone: NUL and unpaired surrogates. */
const perhapsNotStorable = /\\u(?:0000|d[89a-f])/i;

function readJson(content: Buffer): unknown {
  try {
    const body = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return perhapsNotStorable.test(body) ? JSON.parse(body, onlyStorable) : JSON.parse(body);
  } catch (error) {
    if (error instanceof RefusedMessage) throw error;
    throw new RefusedMessage("body", "the body is not JSON in UTF-8");
  }
}

function onlyStorable(key: string, value: unknown): unknown {
  if (isStorable(key) && (typeof value !== "string" || isStorable(value))) return value;
  throw new RefusedMessage("body", "the body contains a NUL or an unpaired surrogate");
}
