import type { TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Tags } from "lucide-react";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { quoted } from "../fiql/complete.ts";
import { states, device as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { toast, toastFailure } from "../ui/toast.tsx";

/** What the device said about itself; each value leads to the devices that said the same. */
export function AttributesTab({ target }: { target: TargetView }) {
  const targetId = target.controllerId;
  const { data, error, refetch } = useQuery(ask(r.targets.attributes, { params: { targetId } }));
  const lacking = useLacking(r.targets.update);
  const request = () =>
    change(r.targets.update, { params: { targetId }, body: { requestAttributes: true } }).then(() => {
      toast(t.asked);
      return invalidate("targets");
    }, toastFailure);
  const why = (lacking && states.missing(lacking)) ?? (target.requestAttributes ? t.asked : undefined);
  const button = (
    <Button small why={why} onClick={request}>
      {t.ask}
    </Button>
  );
  if (data === undefined) return error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />;
  const entries = Object.entries(data ?? {}).sort(([a], [b]) => a.localeCompare(b));
  if (entries.length === 0) {
    return (
      <Card>
        <Empty title={t.attributesEmpty} text={t.attributesEmptyText} icon={Tags}>
          {button}
        </Empty>
      </Card>
    );
  }
  return (
    <Card title={t.tabs["attributes"] ?? ""} aside={button} plain>
      <Table columns={[t.key, t.value]}>
        {entries.map(([key, value]) => (
          <tr key={key}>
            <td className="mono">{key}</td>
            <td>
              <Link to="/devices" search={{ q: `attribute.${key}==${quoted(value)}` }} title={t.filterBy(key)}>
                {value}
              </Link>
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
