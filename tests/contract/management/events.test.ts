import { type EventPage, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused, urlOf } from "../support/call.ts";
import { baseUrl, credentials } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

interface Sent {
  event: string;
  id: string | undefined;
  data: { subject?: string; subjects?: string[] };
}

describe.each(dialects)("events, %s", (dialect) => {
  inOwnTenant();
  const build = builder(dialect);
  const read = async (query: Record<string, string | number>) => (await call<EventPage>(r.events.list, dialect, { query })).json;
  const subjects = ({ content }: EventPage) => content.map(({ subject }) => subject);
  /** Reads a stream until it ends, or until `enough` says so. */
  async function follow(
    query: Record<string, string | number>,
    { headers = {}, onSent }: { headers?: Record<string, string>; onSent(all: Sent[]): boolean | Promise<boolean> },
  ): Promise<Sent[]> {
    const ending = new AbortController();
    const url = baseUrl + urlOf(r.events.stream, dialect, { query });
    const answer = await fetch(url, { headers: { authorization: credentials.admin, ...headers }, signal: ending.signal });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    if (answer.body === null) throw new Error("the stream has no body");
    const sent: Sent[] = [];
    let text = "";
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      text += part;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        const event = field("event");
        if (event !== undefined) sent.push({ event, id: field("id"), data: JSON.parse(field("data") ?? "{}") as Sent["data"] });
      }
      if (await onSent(sent)) break;
    }
    ending.abort();
    return sent;
  }

  it("extensions: events are read by cursor, chosen by type, and waited for", async () => {
    const { next } = await read({});
    const { controllerId } = await build.target();
    const { json: first } = await call<EventPage>(r.events.list, dialect, { query: { after: next, wait: 10, limit: 1 } });
    expect(subjects(first)).toEqual([`targets/${controllerId}`]);
    expect(first.content[0]).toMatchObject({ specversion: "1.0", type: "io.update.target.created.v1", data: { controllerId } });
    expect(subjects(await read({ after: next, types: "io.update.target.deleted.v1" }))).toEqual([]);
    expect(subjects(await read({ after: next, types: "io.update.target.created.v1" }))).toEqual([`targets/${controllerId}`]);
    await refused(r.events.list, dialect, { query: { after: "nonsense" } }, [400, "repo.constraintViolation"]);
    await refused(r.events.list, dialect, { query: { types: "nonsense" } }, [400, "repo.constraintViolation"]);
  });

  it("extensions: a caller without READ_REPOSITORY reads no events of sets and modules, and all others", async () => {
    const { auth } = await accessBuilder(dialect).user(["READ_TARGET", "READ_ROLLOUT"]);
    const { next } = await read({});
    const set = await build.set();
    const { controllerId } = await build.target();
    const readAs = async (headers: { auth?: string }) =>
      (await call<EventPage>(r.events.list, dialect, { query: { after: next, wait: 10 }, ...headers })).json;
    const bySubject = (page: EventPage) => subjects(page).filter((subject) => /^(distributionsets|targets)\//.test(subject ?? ""));
    const both = [`distributionsets/${set.id}`, `targets/${controllerId}`];
    await eventually(
      async () =>
        bySubject(await readAs({}))
          .toSorted()
          .join() === both.join(),
    );
    expect(subjects(await readAs({ auth }))).toEqual([`targets/${controllerId}`]);
  });

  it("console M07: a stream tells events as they happen, goes on behind the last one, and ends by itself", async () => {
    const [first, second] = [unique(), unique()];
    const create = (controllerId: string) => call(r.targets.create, dialect, { body: [{ controllerId }] });
    let created: Promise<unknown> | undefined;
    const sent = await follow(
      { seconds: 20 },
      {
        onSent(all) {
          // the first bytes say that the stream is open
          created ??= create(first);
          return all.length > 0;
        },
      },
    );
    expect(sent).toMatchObject([{ event: "event", data: { subject: `targets/${first}` } }]);
    await created;
    await create(second);
    const headers = { "last-event-id": sent[0]?.id ?? "" };
    const next = await follow({ seconds: 20 }, { headers, onSent: (all) => all.length > 0 });
    expect(next).toMatchObject([{ data: { subject: `targets/${second}` } }]);
    expect(await follow({ seconds: 1 }, { onSent: () => false })).toEqual([]);
  });

  it("console M07: a stream of changes begins with everything, then tells what has changed and what a filter leaves", async () => {
    const [wanted, other] = [unique(), unique()];
    const create = () => call(r.targets.create, dialect, { body: [{ controllerId: wanted }, { controllerId: other }] });
    const told = (all: Sent[]) => all.flatMap(({ data }) => data.subjects ?? []);
    let created = false;
    const all = await follow(
      { changes: "true", target: wanted, seconds: 20 },
      {
        async onSent(soFar) {
          if (!created && soFar.length > 0) {
            created = true;
            await create();
          }
          return told(soFar).includes(`targets/${wanted}`);
        },
      },
    );
    expect(all.every(({ event }) => event === "changed")).toBe(true);
    expect(told(all)).toEqual(["*", `targets/${wanted}`]);
  });
});
