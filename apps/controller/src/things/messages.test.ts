import { actionStatus, forceType } from "@harrier/contracts";
import { expect, it, vi } from "vitest";
import type { ChunkTemplate } from "../deployment/documents.ts";
import { actionMessage, maxBodyBytes, type ThingFacts, windowMessage } from "./messages.ts";
import type { OpenAction } from "./things.sql.ts";

const { CANCELING, DOWNLOADED, RUNNING, WAIT_FOR_CONFIRMATION } = actionStatus;
const at = (text: string): number => Date.parse(`2026-11-21T${text}Z`);
const nightly = { schedule: "0 0 2 * * ?", duration: "01:00:00", timezone: "+00:00" };
const [closed, open] = [at("10:00:00"), at("02:30:00")];
const chunk: ChunkTemplate = {
  moduleId: 3,
  part: "os",
  typeKey: "os",
  name: "firmware",
  version: "1.0",
  metadata: [{ key: "k", value: "v" }],
  artifacts: [{ filename: "a.bin", sha1: "s1", md5: "m5", sha256: "s2", size: 10, createdAt: 7 }] as unknown as ChunkTemplate["artifacts"],
};
const action = (part: Partial<OpenAction> = {}): OpenAction => ({
  id: 1,
  status: RUNNING,
  setId: 2,
  setRevision: 4,
  forceType: forceType.forced,
  weight: 500,
  maintenance: null,
  ...part,
});
const factsOf = (actions: OpenAction[], more: Partial<ThingFacts> = {}): ThingFacts => ({
  actions,
  chunksOf: ({ setRevision }) => (setRevision === null ? undefined : [chunk]),
  linksOf: () => ({ download: { href: "https://h/a" }, "download-http": { href: "http://h/a" } }) as ReturnType<ThingFacts["linksOf"]>,
  securityToken: "token",
  several: false,
  now: closed,
  onTooLarge: () => undefined,
  ...more,
});

it.each([
  ["an action", action(), closed, "DOWNLOAD_AND_INSTALL"],
  ["one that waits to be confirmed", action({ status: WAIT_FOR_CONFIRMATION }), closed, "CONFIRM"],
  ["one that is cancelled", action({ status: CANCELING }), closed, "CANCEL_DOWNLOAD"],
  ["downloadonly", action({ forceType: forceType.downloadonly }), closed, "DOWNLOAD"],
  ["one whose maintenance window is closed", action({ maintenance: nightly }), closed, "DOWNLOAD"],
  ["one whose maintenance window is open", action({ maintenance: nightly }), open, "DOWNLOAD_AND_INSTALL"],
  ["one whose set was deleted", action({ setRevision: null }), closed, undefined],
])("rollouts 8.4 of %s a thing is told %j", (_, one, now, topic) => {
  expect(actionMessage(factsOf([one], { now }))?.topic).toBe(topic);
});

it.each([
  ["in its maintenance window", action({ status: DOWNLOADED, maintenance: nightly }), open, "DOWNLOAD_AND_INSTALL"],
  ["outside of it", action({ status: DOWNLOADED, maintenance: nightly }), closed, undefined],
  ["without one", action(), open, undefined],
  ["in it, of what is cancelled", action({ status: CANCELING, maintenance: nightly }), open, undefined],
])("rollouts 8.3 a thing that reports %s is told it again if it may install now", (_, one, now, topic) => {
  expect(windowMessage(factsOf([one], { now }))?.topic).toBe(topic);
});

it("rollouts 107 a thing is told of a cancellation until it answers, and of nothing that outweighs it", () => {
  const actions = [action({ id: 9, weight: 1000, maintenance: nightly }), action({ id: 8, weight: 10, status: CANCELING })];
  const facts = factsOf(actions, { now: open });
  expect(actionMessage(facts)).toMatchObject({ topic: "CANCEL_DOWNLOAD", body: { actionId: 8 } });
  expect(windowMessage(facts)).toBeUndefined();
  expect(actionMessage(factsOf(actions.slice(0, 1), { now: open }))).toMatchObject({ topic: "DOWNLOAD_AND_INSTALL" });
});

it("rollouts 8.4 a message has the modules with their files, and an address for each protocol", () => {
  expect(actionMessage(factsOf([action()]))).toEqual({
    type: "EVENT",
    topic: "DOWNLOAD_AND_INSTALL",
    set: "2/4",
    body: {
      actionId: 1,
      targetSecurityToken: "token",
      softwareModules: [
        {
          moduleId: 3,
          moduleType: "os",
          moduleVersion: "1.0",
          artifacts: [
            {
              filename: "a.bin",
              urls: { HTTPS: "https://h/a", HTTP: "http://h/a" },
              hashes: { sha1: "s1", md5: "m5" },
              size: 10,
              lastModified: 7,
            },
          ],
          metadata: [{ key: "k", value: "v" }],
        },
      ],
    },
  });
});

it("rollouts 8.4 where a target may have several actions all are one message, those whose set was deleted left out", () => {
  const actions = [action({ id: 9, weight: 900 }), action({ id: 8, status: CANCELING }), action({ id: 7, setRevision: null })];
  const told = actionMessage(factsOf(actions, { several: true }));
  expect(told).toMatchObject({
    topic: "MULTI_ACTION",
    body: [
      { topic: "DOWNLOAD_AND_INSTALL", weight: 900, action: { actionId: 9, softwareModules: [{ moduleId: 3 }] } },
      { topic: "CANCEL_DOWNLOAD", weight: 500, action: { actionId: 8 } },
    ],
  });
  expect(actionMessage(factsOf([], { several: true }))).toBeUndefined();
});

/** Chunks whose metadata has so many bytes. */
const chunksOf = (bytes: number): ChunkTemplate[] => [{ ...chunk, metadata: [{ key: "k", value: "v".repeat(bytes) }] }];
const mebibyte = 1024 * 1024;

it("rollouts 8.4 several actions are as many as a message can have, the heaviest first, and every cancellation", () => {
  const sizes: Record<number, number> = { 1: mebibyte, 2: 2 * mebibyte, 3: 2 * mebibyte, 4: 10 };
  const actions = [
    ...[1, 2, 3, 4].map((setId) => action({ id: setId, setId, weight: 500 - setId })),
    action({ id: 5, status: CANCELING, weight: 1 }),
  ];
  const onTooLarge = vi.fn();
  const told = actionMessage(factsOf(actions, { several: true, chunksOf: ({ setId }) => chunksOf(sizes[setId] ?? 0), onTooLarge }));
  expect(told?.body).toMatchObject([1, 2, 5].map((actionId) => ({ action: { actionId } })));
  expect(Buffer.byteLength(JSON.stringify(told?.body))).toBeLessThan(maxBodyBytes);
  expect(onTooLarge).not.toHaveBeenCalled();
});

it.each([false, true])(
  "a thing is not told of a set that no message can have, and what is cancelled all the same (several: %s)",
  (several) => {
    const onTooLarge = vi.fn();
    const facts = (actions: OpenAction[]) => factsOf(actions, { several, chunksOf: () => chunksOf(40 * mebibyte), onTooLarge });
    expect(actionMessage(facts([action()]))).toBeUndefined();
    expect(onTooLarge).toHaveBeenCalledTimes(1);
    expect(actionMessage(facts([action({ id: 7, weight: 900 }), action({ id: 8, status: CANCELING })]))?.topic).toBe(
      several ? "MULTI_ACTION" : "CANCEL_DOWNLOAD",
    );
  },
);
