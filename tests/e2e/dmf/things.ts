import { type Admin, eventually, uniqueName } from "@harrier/testkit";
import { expect } from "vitest";
import type { Backend, Got } from "../support/thing.ts";
import { admin, backend } from "./stack.ts";

// What the tests of dmf do with things, of the default tenant unless they say whose.

/** What goes by the broker, controller and dmf, with a kill between them, is there within this time, in ms. */
export const limitMs = 60_000;

/** Makes a set with one file. */
export const newSet = async (of: Admin = admin): Promise<number> => (await of.createSetWithFile("some bytes", "a.bin")).set.id;

export const target = (id: string, of: Admin = admin) => of.get<Record<string, unknown>>(`targets/${encodeURIComponent(id)}`);

interface Registered {
  id?: string;
  by?: Backend;
  of?: Admin;
}

/** Registers a thing, and waits until messages reach it. */
export async function registered({ id = uniqueName("thing"), by = backend, of = admin }: Registered = {}): Promise<string> {
  by.register(id);
  await eventually(async () => expect(String((await target(id, of))["address"])).toMatch(/^amqp:/), limitMs);
  return id;
}

export interface ActionView {
  id: number;
  status: string;
  detailStatus: string;
  weight?: number;
}
const actionsPath = (id: string) => `targets/${encodeURIComponent(id)}/actions`;
export const actionOf = (id: string, actionId: number) => admin.get<ActionView>(`${actionsPath(id)}/${actionId}`);
export const actionsOf = async (id: string, of: Admin = admin) => (await of.get<{ content: ActionView[] }>(actionsPath(id))).content;
export const isNow = (id: string, actionId: number, detailStatus: string) =>
  eventually(async () => expect((await actionOf(id, actionId)).detailStatus).toBe(detailStatus), limitMs);

/** Assigns a set to one thing; `more` says how. */
export const assign = (id: string, setId: number, more: object = {}, of: Admin = admin) => assignAll([id], setId, more, of);
/** Assigns a set to several things in one request; `more` says how, alike for each. */
export const assignAll = (ids: readonly string[], setId: number, more: object = {}, of: Admin = admin) =>
  of.post(
    `distributionsets/${setId}/assignedTargets`,
    ids.map((id) => ({ id, ...more })),
  );
export const told = (thingId: string, topic: string): Promise<Got> =>
  backend.next((message) => message.thingId === thingId && message.topic === topic, limitMs);
