import type { RequestContext } from "@harrier/service";
import { type Changes, everything } from "./changes.ts";
import type { EventStream } from "./event-stream.ts";
import { seesCatalogue } from "./read-events.ts";

/** What only those are told of who may read sets and modules. */
const ofCatalogue = /^(distributionsets|softwaremodules)\//;

interface Filter {
  rollout?: number | undefined;
  target?: string | undefined;
}

/** Tells a client the subjects that change, until the stream ends; what it does not read in time becomes one change of everything. */
export async function followChanges(
  { changes }: { changes: Changes },
  {
    tenantId,
    query,
    identity,
  }: Pick<RequestContext, "tenantId"> & { query: Filter; identity: Pick<RequestContext["identity"], "permissions"> },
  stream: EventStream,
): Promise<void> {
  const chosen = filterOf(query);
  const catalogue = seesCatalogue(identity);
  const concerns = (subject: string) => chosen(subject) && (catalogue || !ofCatalogue.test(subject));
  let dropped = false;
  const leave = changes.listen({
    tenantId,
    changed(subjects) {
      const told = subjects.filter(concerns);
      if (told.length === 0) return;
      if (!stream.full) return stream.send("changed", { subjects: told });
      if (!dropped) {
        stream.whenRead(() => {
          dropped = false;
          stream.send("changed", { subjects: [everything] });
        });
      }
      dropped = true;
    },
    ended: stream.end,
  });
  await stream.ended;
  leave();
}

/** Without a filter everything concerns the client; with one the rollout, the target, and whatever may include it. */
function filterOf({ rollout, target }: Filter): (subject: string) => boolean {
  if (rollout === undefined && target === undefined) return () => true;
  const wanted = new Set([everything]);
  if (rollout !== undefined) wanted.add(`rollouts/${rollout}`);
  if (target !== undefined) wanted.add("targets").add(`targets/${target}`);
  return (subject) => wanted.has(subject);
}
