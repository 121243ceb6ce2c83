import { type EventPage, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused, urlOf } from "../support/call.ts";
import { baseUrl, credentials } from "../support/http.ts";
import { inOwnTenant } from "../support/tenants.ts";

interface Sent {
  event: string;
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
    begun: () => Promise<unknown>,
    enough: (all: Sent[]) => boolean,
  ): Promise<Sent[]> {
    const ending = new AbortController();
    const url = baseUrl + urlOf(r.events.stream, dialect, { query });
    const answer = await fetch(url, { headers: { authorization: credentials.admin }, signal: ending.signal });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const sent: Sent[] = [];
    let text = "";
    let changed: Promise<unknown> | undefined;
    if (answer.body === null) throw new Error("the stream has no body");
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      changed ??= begun();
      text += part;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = /^event: (.*)$/m.exec(block)?.[1];
        if (event !== undefined) sent.push({ event, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "{}") as Sent["data"] });
      }
      if (enough(sent)) break;
    }
    ending.abort();
    await changed;
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
    await refused(r.events.list, dialect, { query: { after: "nonsense" } }, [400, "rest.body.notReadable"]);
    await refused(r.events.list, dialect, { query: { types: "nonsense" } }, [400]);
  });

  it("console M07: a stream tells events as they happen, and ends by itself", async () => {
    const name = unique();
    const body = [{ controllerId: name }];
    const sent = await follow(
      { seconds: 20 },
      () => call(r.targets.create, dialect, { body }),
      (all) => all.length > 0,
    );
    expect(sent).toMatchObject([{ event: "event", data: { subject: `targets/${name}` } }]);
    expect(
      await follow(
        { seconds: 1 },
        async () => {},
        () => false,
      ),
    ).toEqual([]);
  });

  it("console M07: a stream of changes tells what has changed, and what a filter leaves", async () => {
    const [wanted, other] = [unique(), unique()];
    const create = () => call(r.targets.create, dialect, { body: [{ controllerId: wanted }, { controllerId: other }] });
    const told = (all: Sent[]) => all.flatMap(({ data }) => data.subjects ?? []);
    const has = (all: Sent[]) => told(all).includes(`targets/${wanted}`) || told(all).includes("*");
    const all = await follow({ changes: "true", target: wanted, seconds: 20 }, create, has);
    expect(all.every(({ event }) => event === "changed")).toBe(true);
    expect(told(all)).not.toContain(`targets/${other}`);
  });
});
