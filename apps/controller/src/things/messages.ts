import { actionStatus, forceType, isWindowOpen } from "@harrier/contracts";
import type { WrittenLinks } from "../artifacts/artifact-links.ts";
import type { ArtifactFacts } from "../artifacts/artifact-view.ts";
import type { ChunkTemplate } from "../deployment/documents.ts";
import type { OpenAction } from "./things.sql.ts";

/** A message to a thing, before it has an address (contract rollouts.md §8.4). */
export interface Told {
  readonly type: "EVENT" | "THING_DELETED";
  readonly topic: string;
  /** Undefined where there is no body. */
  readonly body?: object;
  /** The set and its revision that a message to install or download is about: such messages with the same one can be a batch. */
  readonly set?: string;
}

/** What is needed of a thing to tell it what to do. */
export interface ThingFacts {
  readonly actions: readonly OpenAction[];
  /** The modules of a set; undefined if it was deleted. */
  chunksOf(action: OpenAction): readonly ChunkTemplate[] | undefined;
  linksOf(moduleId: number, artifact: ArtifactFacts): WrittenLinks;
  readonly securityToken: string;
  /** Whether the tenant allows several open actions of a target. */
  readonly several: boolean;
  readonly now: number;
  /** What a set says is more than a message can have, so that the thing is not told of it; to find out has cost as much as so many bytes of messages. */
  onTooLarge(bytes: number): void;
}

/** A message has so many bytes at most: the broker takes no more (docs/operations.md, `max_message_size`), and would refuse a larger one for ever. */
export const maxBodyBytes = 4 * 1024 * 1024;
/** Several actions have so many, which leaves room for the cancellation of each that a thing can have. */
const maxActionsBytes = maxBodyBytes - 16 * 1024;

/** Answers the message that tells a thing what to do: its first open action, or all of them where a target may have several. */
export function actionMessage(facts: ThingFacts): Told | undefined {
  if (facts.several) return allActions(facts);
  const first = firstOf(facts);
  if (first === undefined) return undefined;
  const message = messageOf(facts, first);
  if (message !== tooLarge) return message;
  facts.onTooLarge(maxBodyBytes);
  return undefined;
}

/** Answers it again after a report, if the maintenance window of its action is open: then what was downloaded may be installed. */
export function windowMessage(facts: ThingFacts): Told | undefined {
  const first = firstOf(facts);
  const open = first !== undefined && first.maintenance !== null && isWindowOpen(first.maintenance, facts.now);
  return open && first.status !== actionStatus.CANCELING ? actionMessage(facts) : undefined;
}

/** A thing is told nothing new while it has not answered a cancellation, whatever the weights are (contract rollouts.md §8.4). */
const firstOf = ({ actions }: ThingFacts): OpenAction | undefined =>
  actions.find(({ status }) => status === actionStatus.CANCELING) ?? actions[0];

/**
 * As many actions as a message can have, those of the highest weight; what has no room, and what is lighter, follows when one of them has ended. A
 * cancellation always has room.
 */
function allActions(facts: ThingFacts): Told | undefined {
  const all: object[] = [];
  let bytes = 0;
  let full = false;
  for (const action of facts.actions) {
    if (full && action.status !== actionStatus.CANCELING) continue;
    const message = messageOf(facts, action);
    if (message === undefined) continue;
    const item = message === tooLarge ? undefined : { topic: message.topic, weight: action.weight, action: message.body };
    const more = item === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(JSON.stringify(item));
    if (item !== undefined && (bytes + more <= maxActionsBytes || action.status === actionStatus.CANCELING)) {
      all.push(item);
      bytes += more + 1;
    } else {
      full = true;
      if (more > maxActionsBytes) facts.onTooLarge(maxBodyBytes);
    }
  }
  return all.length === 0 ? undefined : { type: "EVENT", topic: "MULTI_ACTION", body: all };
}

/** The set of an action is larger than any message. */
const tooLarge = Symbol("too large");

/** Undefined: the set was deleted. */
function messageOf(facts: ThingFacts, action: OpenAction): Told | typeof tooLarge | undefined {
  if (action.status === actionStatus.CANCELING) return { type: "EVENT", topic: "CANCEL_DOWNLOAD", body: { actionId: action.id } };
  const chunks = facts.chunksOf(action);
  if (chunks === undefined) return undefined;
  if (leastLength(chunks) > maxBodyBytes) return tooLarge;
  const softwareModules = chunks.map((chunk) => moduleOf(facts, chunk));
  const body = { actionId: action.id, targetSecurityToken: facts.securityToken, softwareModules };
  return { type: "EVENT", topic: topicOf(action, facts.now), body, set: `${action.setId}/${action.setRevision}` };
}

/** So long is what is said of these modules at least: what is far too large is not written to find out. */
function leastLength(chunks: readonly ChunkTemplate[]): number {
  let length = 0;
  for (const { metadata, artifacts } of chunks) {
    for (const { key, value } of metadata) length += key.length + value.length;
    for (const { filename } of artifacts) length += filename.length;
  }
  return length;
}

function topicOf({ status, forceType: force, maintenance }: OpenAction, now: number): string {
  if (status === actionStatus.WAIT_FOR_CONFIRMATION) return "CONFIRM";
  const downloadOnly = force === forceType.downloadonly || (maintenance !== null && !isWindowOpen(maintenance, now));
  return downloadOnly ? "DOWNLOAD" : "DOWNLOAD_AND_INSTALL";
}

function moduleOf(facts: ThingFacts, { moduleId, typeKey, version, metadata, artifacts }: ChunkTemplate): object {
  return {
    moduleId,
    moduleType: typeKey,
    moduleVersion: version,
    artifacts: artifacts.map((artifact) => ({
      filename: artifact.filename,
      urls: urlsOf(facts.linksOf(moduleId, artifact)),
      hashes: { sha1: artifact.sha1, md5: artifact.md5 },
      size: artifact.size,
      lastModified: artifact.createdAt,
    })),
    ...(metadata.length === 0 ? {} : { metadata }),
  };
}

/** The links by protocol: of two with the same one the first counts. */
function urlsOf(links: WrittenLinks): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const { href } of [links.download, links["download-http"]]) {
    const protocol = href.slice(0, href.indexOf(":")).toUpperCase();
    urls[protocol] ??= href;
  }
  return urls;
}
