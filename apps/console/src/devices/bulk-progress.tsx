import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { ask, problemOf, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { states, devices as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Note } from "../ui/states.tsx";

const pollMs = 1_000;

/** How far a change or a deletion of many devices is, and which of them it could not reach. */
export function BulkProgress({ id, close }: { id: number; close: () => void }) {
  const { data, error, refetch } = useQuery({
    ...ask(r.operations.get, { params: { operationId: id } }),
    refetchInterval: ({ state }) => state.data?.status !== "finished" && pollMs,
  });
  const ended = data?.status === "finished";
  useEffect(() => {
    if (ended) void invalidate("targets", "actions");
  }, [ended]);
  const said = data?.kind === "delete-targets" ? t.bulk.deletion : t.bulk.progress;
  const problem = data?.lastError ?? (error === null ? undefined : problemOf(error).text);
  const bad = problem !== undefined || (data?.failed ?? 0) > 0;
  return (
    <Note {...(bad && { tone: "warn" })}>
      <p role="status">{data === undefined ? states.loading : said(data.done, data.total, ended)}</p>
      {problem !== undefined && <p>{problem}</p>}
      {(data?.failed ?? 0) > 0 && <p>{t.bulk.failed(data?.failed ?? 0)}</p>}
      <ul>
        {data?.failures?.map(({ controllerId, reason }) => (
          <li key={controllerId}>
            <Link to="/devices/$controllerId" params={{ controllerId }} search={{}} className="mono">
              {controllerId}
            </Link>
            {` ${t.bulk.reasons[reason] ?? reason}`}
          </li>
        ))}
      </ul>
      {error !== null && (
        <Button small onClick={() => void refetch()}>
          {states.retry}
        </Button>
      )}
      {ended && (
        <Button small look="ghost" onClick={close}>
          {t.bulk.close}
        </Button>
      )}
    </Note>
  );
}
