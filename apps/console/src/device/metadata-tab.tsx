import { useQuery } from "@tanstack/react-query";
import { StickyNote } from "lucide-react";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, device as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, FormDialog } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import style from "./device.module.css";

/** Notes of people and programs about a device. */
export function MetadataTab({ targetId }: { targetId: string }) {
  const [adding, setAdding] = useState(false);
  const { data, error, refetch } = useQuery(ask(r.targets.listMetadata, { params: { targetId }, query: { limit: 500, sort: "key:ASC" } }));
  const lacking = useLacking(r.targets.createMetadata);
  const button = (
    <Button small why={lacking && states.missing(lacking)} onClick={() => setAdding(true)}>
      {t.metadataAdd}
    </Button>
  );
  if (data === undefined) return error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />;
  return (
    <Card title={t.tabs["metadata"] ?? ""} aside={button} plain>
      {data.content.length === 0 ? (
        <Empty title={t.metadataEmpty} text={t.metadataEmptyText} icon={StickyNote} />
      ) : (
        <table className={style["table"]}>
          <thead>
            <tr>
              <th>{t.key}</th>
              <th>{t.value}</th>
              <th>
                <span className="hidden">{t.delete}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.content.map(({ key, value }) => (
              <tr key={key}>
                <td className="mono">{key}</td>
                <td>{value}</td>
                <td>
                  <Remove targetId={targetId} metadataKey={key} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {adding && <Add targetId={targetId} close={() => setAdding(false)} />}
    </Card>
  );
}

function Remove({ targetId, metadataKey }: { targetId: string; metadataKey: string }) {
  const lacking = useLacking(r.targets.deleteMetadata);
  const run = async () => {
    await change(r.targets.deleteMetadata, { params: { targetId, metadataKey } });
    await invalidate("targets");
  };
  return (
    <Confirm
      small
      look="ghost"
      why={lacking && states.missing(lacking)}
      trigger={t.delete}
      title={t.metadataDelete(metadataKey)}
      text=""
      button={t.delete}
      run={run}
    />
  );
}

function Add({ targetId, close }: { targetId: string; close: () => void }) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const run = async () => {
    await change(r.targets.createMetadata, { params: { targetId }, body: [{ key: key.trim(), value }] });
    await invalidate("targets");
  };
  return (
    <FormDialog open close={close} title={t.metadataAdd} button={t.save} why={key.trim() === "" ? t.key : undefined} run={run}>
      <Field label={t.key} value={key} onChange={setKey} maxLength={128} autoFocus />
      <Field label={t.value} value={value} onChange={setValue} maxLength={4000} lines />
    </FormDialog>
  );
}
