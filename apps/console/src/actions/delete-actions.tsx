import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, actions as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { Refusal, Skeleton } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { closedOf, lacksOf, mostAtOnce } from "./delete.state.ts";

/** Deletes the closed updates that a list shows, with their history. How many that are is counted when the question is asked, and typed. */
export function DeleteActions({ q: shown }: { q: string | undefined }) {
  const [open, setOpen] = useState(false);
  const lacking = useLacking(r.actions.deleteMany);
  const q = closedOf(shown);
  const counted = useQuery({ ...ask(r.actions.list, { query: { q, limit: 1, total: "exact" } }), enabled: open, staleTime: 0 });
  const number = counted.isFetching ? undefined : counted.data?.total;
  const lacks = lacksOf(number);
  const run = async () => {
    await change(r.actions.deleteMany, { query: { q } });
    toast(t.deleted(number ?? 0));
    await invalidate("actions", "targets");
  };
  return (
    <Confirm
      look="danger"
      why={lacking && states.missing(lacking)}
      trigger={t.delete}
      title={number === undefined ? t.delete : t.deleteTitle(number)}
      text={
        <>
          {number === undefined && (counted.error === null ? <Skeleton lines={1} /> : <Refusal error={counted.error} />)}
          <p>{t.deleteText(mostAtOnce)}</p>
        </>
      }
      button={t.deleteButton}
      typed={lacks === undefined ? String(number) : undefined}
      missing={lacks && t.deleteLacks[lacks]}
      onOpen={setOpen}
      run={run}
    />
  );
}
