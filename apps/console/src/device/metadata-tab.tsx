import { useQuery } from "@tanstack/react-query";
import { StickyNote } from "lucide-react";
import { useState } from "react";
import { ask, askSeen, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { common, states, device as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";

/** Notes of people and programs about a device. */
export function MetadataTab({ targetId }: { targetId: string }) {
  const [adding, setAdding] = useState(false);
  const [editing, setEditing] = useState<string>();
  const { data, error, refetch } = useQuery(ask(r.targets.listMetadata, { params: { targetId }, query: { limit: 500, sort: "key:ASC" } }));
  const lacking = useLacking(r.targets.createMetadata);
  const lacksUpdate = useLacking(r.targets.updateMetadata);
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
        <Table columns={[t.key, t.value, { hidden: common.actions }]}>
          {data.content.map(({ key, value }) => (
            <tr key={key}>
              <td className="mono">{key}</td>
              <td>{value}</td>
              <td>
                <Button
                  small
                  look="ghost"
                  aria-label={`${common.edit}: ${key}`}
                  why={lacksUpdate && states.missing(lacksUpdate)}
                  onClick={() => setEditing(key)}
                >
                  {common.edit}
                </Button>
                <Remove targetId={targetId} metadataKey={key} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {adding && <Add targetId={targetId} close={() => setAdding(false)} />}
      {editing !== undefined && <Edit targetId={targetId} metadataKey={editing} close={() => setEditing(undefined)} />}
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
      <Field label={t.key} value={key} onChange={setKey} maxLength={limits.metadataKey} autoFocus />
      <Field label={t.value} value={value} onChange={setValue} maxLength={limits.metadataValue} lines />
    </FormDialog>
  );
}

interface EditProps {
  readonly targetId: string;
  readonly metadataKey: string;
  readonly close: () => void;
}

function Edit(props: EditProps) {
  const { targetId, metadataKey, close } = props;
  const asked = askSeen(r.targets.getMetadata, { params: { targetId, metadataKey } });
  return (
    <Reading asked={asked} title={t.metadataEdit(metadataKey)} close={close}>
      {(seen) => <EditForm {...props} seen={seen} />}
    </Reading>
  );
}

function EditForm({
  targetId,
  metadataKey,
  close,
  seen: { body, tag, again },
}: EditProps & { seen: Seen<{ readonly value?: string | undefined }> }) {
  const { value, edit, changed, nothing } = useEdits({ value: body.value ?? "" });
  const run = async () => {
    await change(r.targets.updateMetadata, { params: { targetId, metadataKey }, body: changed, ifMatch: tag });
    await invalidate("targets");
  };
  return (
    <FormDialog open close={close} title={t.metadataEdit(metadataKey)} button={t.save} why={nothing} run={run} again={again}>
      <Field
        label={t.value}
        value={value.value}
        onChange={(next) => edit({ value: next })}
        maxLength={limits.metadataValue}
        lines
        autoFocus
      />
    </FormDialog>
  );
}
