import type { RolloutView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { ApiError, ask, problemOf, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { approvals as t } from "../text/en.ts";
import { Note } from "../ui/states.tsx";
import { againBody, type Fresh, freshOf } from "./approvals.state.ts";

/** What it would be is counted again after so long, in milliseconds. */
const staleMs = 60_000;
const all = { limit: 500, sort: "id:ASC" } as const;

/** Counts a rollout as it would be if it were made now. */
export function useFresh(rollout: RolloutView) {
  const mayPreview = useLacking(r.rollouts.preview) === undefined;
  const mayCount = useLacking(r.targets.list) === undefined;
  return useQuery({
    // Events find no such key: a count of a large fleet costs more than a page of a list.
    queryKey: ["counted anew", rollout.id, mayPreview],
    queryFn: async (context): Promise<Fresh> => {
      const { targetFilterQuery: q } = rollout;
      if (!mayPreview) return { total: (await ask(r.targets.list, { query: { q, limit: 1 } }).queryFn(context)).total ?? 0 };
      const { content } = await ask(r.rollouts.listGroups, { params: { rolloutId: rollout.id }, query: all }).queryFn(context);
      return freshOf(await ask(r.rollouts.preview, { body: againBody(rollout, content) }).queryFn(context));
    },
    enabled: mayPreview || mayCount,
    staleTime: staleMs,
    refetchInterval: staleMs,
  });
}

/** How a rollout that waits differs from what it would be if it were made now: its devices were chosen when it was made. */
export function Difference({ rollout }: { rollout: RolloutView }) {
  const { data, error, isEnabled } = useFresh(rollout);
  if (!isEnabled) return null;
  if (error !== null) {
    const { text, status } = problemOf(error);
    const isRefused = error instanceof ApiError && status !== undefined && status < 500 && status !== 429;
    return <Note {...(isRefused && { tone: "warn" as const })}>{isRefused ? t.refusedNow(text) : t.notCounted(text)}</Note>;
  }
  if (data === undefined) return <p className="muted">{t.counting}</p>;
  const { total, outsideScope = 0, incompatibleType = 0 } = data;
  const differs = total !== rollout.totalTargets;
  return (
    <Note {...(differs && { tone: "warn" as const })}>
      {differs ? t.differs(total, total - rollout.totalTargets) : t.same(total)}
      {outsideScope > 0 && ` ${t.outsideScope(outsideScope)}`}
      {incompatibleType > 0 && ` ${t.incompatibleType(incompatibleType)}`}
    </Note>
  );
}
