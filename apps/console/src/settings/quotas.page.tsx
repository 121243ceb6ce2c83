import { useQuery } from "@tanstack/react-query";
import { ask, r } from "../api/client.ts";
import { me } from "../api/session.ts";
import { quotas as t } from "../text/en.ts";
import { Card } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { QuotaTable } from "./quota-table.tsx";

/** The limits of the tenant, and what is used of them. */
export function Quotas() {
  const { data: user } = useQuery(me);
  const { data, error, refetch } = useQuery(ask(r.quotas.list));
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <p className="muted">{t.text}</p>
      <Card plain>
        <QuotaTable quotas={data} tenant={user?.tenant} />
      </Card>
    </>
  );
}
