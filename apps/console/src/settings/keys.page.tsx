import type { ApiKeyView } from "@harrier/contracts";
import { useState } from "react";
import { type Asked, ask, askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { common, keys as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { FoundList } from "../ui/found-list.tsx";
import type { Column } from "../ui/grid.tsx";
import { limits } from "../ui/limits.ts";
import { TwoLines, whole } from "../ui/listing.tsx";
import { Remove } from "../ui/remove.tsx";
import { type Secret, SecretDialog } from "../ui/secret.tsx";
import { Empty } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { named } from "./named.ts";

/** The keys by which gateways sign in for devices. */
export function Keys() {
  const [editing, setEditing] = useState<ApiKeyView | "new">();
  const [secret, setSecret] = useState<Secret>();
  return (
    <>
      <FoundList
        find={t.find}
        add={{ label: t.new, onClick: () => setEditing("new") }}
        label={t.columns.name}
        columns={columnsOf(setEditing)}
        rowHeight={52}
        sortable={false}
        rows={({ offset, limit, q }) => whole(named(ask(r.apiKeys.list) as Asked<ApiKeyView[]>, q))(offset, limit)}
        empty={<Empty title={t.emptyTitle} text={t.text} command="harrier key create" />}
      />
      {editing === "new" && <NewKey close={() => setEditing(undefined)} made={setSecret} />}
      {editing !== undefined && editing !== "new" && <EditKey of={editing} close={() => setEditing(undefined)} />}
      {secret !== undefined && <SecretDialog of={secret} close={() => setSecret(undefined)} />}
    </>
  );
}

function columnsOf(edit: (key: ApiKeyView) => void): readonly Column<ApiKeyView>[] {
  const removeOf = (apiKeyId: number) => async () => {
    await change(r.apiKeys.delete, { params: { apiKeyId } });
    await invalidate("apiKeys");
  };
  return [
    {
      id: "name",
      head: t.columns.name,
      width: "minmax(150px, 1.4fr)",
      cell: ({ name, description }) => <TwoLines first={name} second={description ?? ""} />,
    },
    { id: "ends", head: t.columns.ends, width: "130px", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    { id: "used", head: t.columns.used, width: "120px", cell: ({ lastUsedOn }) => lastUsedOn ?? t.never },
    {
      id: "actions",
      head: common.actions,
      width: "150px",
      cell: (key) => (
        <>
          <Button small look="ghost" onClick={() => edit(key)}>
            {common.edit}
          </Button>
          <Remove name={key.name} text={t.deleteText} row={r.apiKeys.delete} run={removeOf(key.id)} typed />
        </>
      ),
    },
  ];
}

const dayMs = 86_400_000;
const yearDays = 365;
const dayAfter = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

function NewKey({ close, made }: { close: () => void; made: (secret: Secret) => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [day, setDay] = useState(dayAfter(yearDays));
  const run = async () => {
    const body = { name: name.trim(), expiresAt: day, ...(description.trim() !== "" && { description: description.trim() }) };
    const { apiKey } = await change(r.apiKeys.create, { body });
    made({ title: t.made(body.name), secret: apiKey });
    await invalidate("apiKeys");
  };
  const ends = Date.parse(day);
  const why = name.trim() === "" ? common.nameFirst : Number.isNaN(ends) || ends <= Date.now() ? t.expiresFirst : undefined;
  return (
    <FormDialog open close={close} title={t.new} text={t.text} button={common.create} why={why} run={run}>
      <Field label={common.name} hint={t.nameHint} value={name} onChange={setName} maxLength={limits.name} autoFocus />
      <Field label={common.description} value={description} onChange={setDescription} maxLength={limits.description} />
      <Field label={t.expires} hint={t.expiresHint} type="date" min={dayAfter(1)} value={day} onChange={setDay} />
    </FormDialog>
  );
}

function EditKey({ of, close }: { of: ApiKeyView; close: () => void }) {
  return (
    <Reading asked={askSeen(r.apiKeys.get, { params: { apiKeyId: of.id } })} title={of.name} close={close}>
      {(seen) => <KnownKey seen={seen} close={close} />}
    </Reading>
  );
}

function KnownKey({ seen: { body: of, tag, again }, close }: { seen: Seen<ApiKeyView>; close: () => void }) {
  const { value, edit, nothing } = useEdits({ description: of.description ?? "" });
  const run = async () => {
    const text = value.description.trim();
    await change(r.apiKeys.update, { params: { apiKeyId: of.id }, body: { description: text === "" ? null : text }, ifMatch: tag });
    await invalidate("apiKeys");
  };
  return (
    <FormDialog open close={close} title={of.name} button={common.save} why={nothing} run={run} again={again}>
      <Field
        label={common.description}
        value={value.description}
        onChange={(description) => edit({ description })}
        maxLength={limits.description}
        autoFocus
      />
    </FormDialog>
  );
}
