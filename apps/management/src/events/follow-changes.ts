import type { RequestContext } from "@harrier/service";
import { type Changes, everything } from "./changes.ts";
import type { EventStream } from "./event-stream.ts";

interface Filter {
  rollout?: number | undefined;
  target?: string | undefined;
}

/** Tells a client the subjects that change, until the stream ends; what it does not read in time becomes one change of everything. */
export async function followChanges(
  { changes }: { changes: Changes },
  { tenantId, query }: Pick<RequestContext, "tenantId"> & { query: Filter },
  stream: EventStream,
): Promise<void> {
  const concerns = filterOf(query);
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
