import type { OAuth2ClientView } from "@harrier/contracts";
import { useState } from "react";
import { ask, askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { common, clients as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { moment } from "../ui/format.ts";
import { byNameQuery, FoundList } from "../ui/found-list.tsx";
import type { Column } from "../ui/grid.tsx";
import { limits } from "../ui/limits.ts";
import { TwoLines } from "../ui/listing.tsx";
import { Remove } from "../ui/remove.tsx";
import { type Secret, SecretDialog } from "../ui/secret.tsx";
import { Empty } from "../ui/states.tsx";

type Open = { readonly to: "edit" | "rotate"; readonly client: OAuth2ClientView } | { readonly to: "new" };

/** The programs that get tokens by client id and secret. */
export function Clients() {
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<Secret>();
  const close = () => setOpen(undefined);
  return (
    <>
      <FoundList
        find={t.find}
        add={{ label: t.new, onClick: () => setOpen({ to: "new" }) }}
        label={t.columns.name}
        columns={columnsOf(setOpen)}
        rowHeight={52}
        rows={(wanted) => ask(r.oauth2Clients.list, { query: byNameQuery(wanted) })}
        empty={<Empty title={t.emptyTitle} text={t.text} command="harrier client create" />}
      />
      {open?.to === "new" && <ClientForm of={undefined} close={close} made={setSecret} />}
      {open?.to === "edit" && <ClientForm of={open.client} close={close} made={setSecret} />}
      {open?.to === "rotate" && <Rotate of={open.client} close={close} made={setSecret} />}
      {secret !== undefined && <SecretDialog of={secret} close={() => setSecret(undefined)} />}
    </>
  );
}

function columnsOf(open: (what: Open) => void): readonly Column<OAuth2ClientView>[] {
  const removeOf = (clientId: string) => async () => {
    await change(r.oauth2Clients.delete, { params: { clientId } });
    await invalidate("oauth2Clients");
  };
  return [
    {
      id: "name",
      head: t.columns.name,
      width: "minmax(170px, 1.2fr)",
      sort: "name",
      cell: ({ name, clientId, previousSecretExpiresAt: until }) => (
        <TwoLines first={name} second={until === undefined ? clientId : t.two(moment(until))} />
      ),
    },
    {
      id: "scopes",
      head: t.columns.scopes,
      width: "minmax(140px, 1fr)",
      cell: ({ scopes }) => <code className="cut">{scopes.join(" ")}</code>,
    },
    { id: "used", head: t.columns.used, width: "110px", cell: ({ lastUsedOn }) => lastUsedOn ?? t.never },
    {
      id: "actions",
      head: common.actions,
      width: "260px",
      cell: (client) => (
        <>
          <Button small look="ghost" onClick={() => open({ to: "edit", client })}>
            {common.edit}
          </Button>
          <Button small look="ghost" onClick={() => open({ to: "rotate", client })}>
            {t.rotate}
          </Button>
          <Remove name={client.name} text={t.deleteText} row={r.oauth2Clients.delete} run={removeOf(client.clientId)} typed />
        </>
      ),
    },
  ];
}

interface FormProps {
  readonly close: () => void;
  readonly made: (secret: Secret) => void;
}

const leastTtl = 60;
const mostTtl = 86_400;

function ClientForm({ of, ...rest }: FormProps & { of: OAuth2ClientView | undefined }) {
  if (of === undefined) return <KnownClient {...rest} />;
  return (
    <Reading asked={askSeen(r.oauth2Clients.get, { params: { clientId: of.clientId } })} title={of.name} close={rest.close}>
      {(seen) => <KnownClient seen={seen} {...rest} />}
    </Reading>
  );
}

function KnownClient({ seen, close, made }: FormProps & { seen?: Seen<OAuth2ClientView> }) {
  const of = seen?.body;
  const read = { name: of?.name ?? "", description: of?.description ?? "", scopes: of?.scopes.join(" ") ?? "" };
  const { value, edit, changed, nothing } = useEdits({ ...read, ttl: String(of?.accessTokenTtl ?? 3_600) });
  const { name, description, scopes, ttl } = value;
  const all = scopes.split(/\s+/).filter((scope) => scope !== "");
  const seconds = Number(ttl);
  const run = async () => {
    if (of) {
      const { scopes: otherScopes, ttl: otherTtl, ...texts } = changed;
      const body = {
        ...texts,
        ...(otherScopes !== undefined && { scopes: all }),
        ...(otherTtl !== undefined && { accessTokenTtl: seconds }),
      };
      await change(r.oauth2Clients.update, { params: { clientId: of.clientId }, body, ifMatch: seen?.tag });
    } else {
      const text = description.trim();
      const body = { name: name.trim(), scopes: all, accessTokenTtl: seconds, ...(text !== "" && { description: text }) };
      const [client] = await change(r.oauth2Clients.create, { body: [body] });
      if (client) made({ title: t.secretOf(client.name), secret: client.clientSecret, beside: t.clientId(client.clientId) });
    }
    await invalidate("oauth2Clients");
  };
  const isTtl = Number.isInteger(seconds) && seconds >= leastTtl && seconds <= mostTtl;
  const incomplete = name.trim() === "" ? common.nameFirst : all.length === 0 ? t.scopesFirst : isTtl ? undefined : t.ttlWrong;
  return (
    <FormDialog
      open
      close={close}
      title={of?.name ?? t.new}
      text={of ? t.clientId(of.clientId) : t.text}
      button={of ? common.save : common.create}
      why={incomplete ?? (of && nothing)}
      run={run}
      again={seen?.again}
    >
      <Field label={common.name} value={name} onChange={(next) => edit({ name: next })} maxLength={limits.name} autoFocus />
      <Field
        label={common.description}
        value={description}
        onChange={(next) => edit({ description: next })}
        maxLength={limits.description}
      />
      <Field label={t.scopes} hint={t.scopesHint} value={scopes} onChange={(next) => edit({ scopes: next })} lines spellCheck={false} />
      <Field label={t.ttl} hint={t.ttlHint} value={ttl} onChange={(next) => edit({ ttl: next })} inputMode="numeric" />
    </FormDialog>
  );
}

const hourSeconds = 3_600;
const mostHours = 168;

function Rotate({ of: { name, clientId }, close, made }: FormProps & { of: OAuth2ClientView }) {
  const [hours, setHours] = useState("24");
  const value = Number(hours);
  const isRight = hours.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= mostHours;
  const run = async () => {
    const body = { previousSecretTtl: value * hourSeconds };
    const { clientSecret } = await change(r.oauth2Clients.rotateSecret, { params: { clientId }, body });
    made({ title: t.secretOf(name), secret: clientSecret, beside: t.clientId(clientId) });
    await invalidate("oauth2Clients");
  };
  return (
    <FormDialog
      open
      close={close}
      title={t.rotateTitle(name)}
      text={t.rotateText}
      button={t.rotate}
      why={isRight ? undefined : t.overlapWrong}
      run={run}
    >
      <Field label={t.overlap} hint={t.overlapHint} value={hours} onChange={setHours} inputMode="numeric" autoFocus />
    </FormDialog>
  );
}
