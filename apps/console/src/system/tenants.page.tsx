import { Dialog } from "@base-ui/react/dialog";
import type { TenantView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { me } from "../api/session.ts";
import { QuotaTable } from "../settings/quota-table.tsx";
import { common, system as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { byNameQuery, FoundList } from "../ui/found-list.tsx";
import type { Column } from "../ui/grid.tsx";
import { limits } from "../ui/limits.ts";
import { TwoLines } from "../ui/listing.tsx";
import overlay from "../ui/overlay.module.css";
import { Remove } from "../ui/remove.tsx";
import { type Secret, SecretDialog } from "../ui/secret.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

const pollMs = 10_000;

type Open = { readonly to: "edit" | "quotas"; readonly tenant: TenantView } | { readonly to: "new" };

/** The tenants of the installation. */
export function Tenants() {
  const { data: user } = useQuery(me);
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<Secret>();
  const close = () => setOpen(undefined);
  return (
    <>
      <FoundList
        find={t.find}
        add={{ label: t.newTenant, onClick: () => setOpen({ to: "new" }) }}
        label={t.columns.tenant}
        columns={columnsOf(setOpen, user?.tenant)}
        rowHeight={52}
        rows={(wanted) => ask(r.tenants.list, { query: byNameQuery(wanted) })}
        pollMs={pollMs}
        empty={<Empty title={t.emptyTitle} text={t.tenantText} />}
      />
      {open?.to === "new" && <NewTenant close={close} made={setSecret} />}
      {open?.to === "edit" && <EditTenant of={open.tenant} close={close} />}
      {open?.to === "quotas" && <QuotasOf tenant={open.tenant.name} close={close} />}
      {secret !== undefined && <SecretDialog of={secret} close={() => setSecret(undefined)} />}
    </>
  );
}

const signs = { active: { tone: "ok", sign: "✓" }, suspended: { tone: "warn", sign: "‖" }, deleting: { tone: "bad", sign: "–" } } as const;

function columnsOf(open: (what: Open) => void, own: string | undefined): readonly Column<TenantView>[] {
  return [
    {
      id: "name",
      head: t.columns.tenant,
      width: "minmax(160px, 1.4fr)",
      sort: "name",
      cell: ({ name, description }) => <TwoLines first={name} second={description ?? ""} />,
    },
    {
      id: "status",
      head: t.columns.status,
      width: "130px",
      cell: ({ status }) => <Mark {...signs[status]} word={t.tenantStates[status] ?? status} />,
    },
    { id: "created", head: t.columns.created, width: "110px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: "actions",
      head: common.actions,
      width: "310px",
      cell: (tenant) => (
        <>
          <Button small look="ghost" onClick={() => open({ to: "edit", tenant })}>
            {common.edit}
          </Button>
          <Button small look="ghost" onClick={() => open({ to: "quotas", tenant })}>
            {t.quotas}
          </Button>
          <Steps of={tenant} own={own} />
        </>
      ),
    },
  ];
}

/** What is done to a whole tenant; that of the operator stays as it is. */
function Steps({ of: { name, status }, own }: { of: TenantView; own: string | undefined }) {
  const params = { tenantName: name };
  const why = name === own ? t.own : undefined;
  const done = () => invalidate("tenants", "operations");
  const active = status === "active";
  return (
    <>
      <Confirm
        small
        look={active ? "danger" : "ghost"}
        why={status === "deleting" ? t.tenantStates["deleting"] : why}
        trigger={active ? t.suspend : t.resume}
        title={active ? t.suspendTitle(name) : t.resumeTitle(name)}
        text={active ? t.suspendText : t.resumeText}
        button={active ? t.suspend : t.resume}
        typed={active ? name : undefined}
        run={async () => {
          await (active ? change(r.tenants.suspend, { params }) : change(r.tenants.resume, { params }));
          await done();
        }}
      />
      <Remove
        name={name}
        text={t.deleteText}
        row={r.tenants.delete}
        why={why}
        typed
        run={async () => {
          await change(r.tenants.delete, { params });
          await done();
        }}
      />
    </>
  );
}

function NewTenant({ close, made }: { close: () => void; made: (secret: Secret) => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [admin, setAdmin] = useState("admin");
  const user = admin.trim();
  const run = async () => {
    const body = {
      name: name.trim(),
      ...(description.trim() !== "" && { description: description.trim() }),
      ...(user !== "" && { administrator: { name: user } }),
    };
    const [tenant] = await change(r.tenants.create, { body: [body] });
    const password = tenant?.administrator?.password;
    if (password !== undefined) made({ title: t.adminOf(user, body.name), secret: password, beside: t.signIn(body.name, user) });
    await invalidate("tenants");
  };
  const why = name.trim() === "" ? common.nameFirst : undefined;
  return (
    <FormDialog open close={close} title={t.newTenant} text={t.tenantText} button={common.create} why={why} run={run}>
      <Field label={common.name} hint={t.nameHint} value={name} onChange={setName} maxLength={limits.name} autoFocus />
      <Field label={common.description} value={description} onChange={setDescription} maxLength={limits.description} />
      <Field label={t.admin} hint={t.adminHint} value={admin} onChange={setAdmin} maxLength={limits.name} autoCapitalize="none" />
    </FormDialog>
  );
}

function EditTenant({ of, close }: { of: TenantView; close: () => void }) {
  return (
    <Reading asked={askSeen(r.tenants.get, { params: { tenantName: of.name } })} title={of.name} close={close}>
      {(seen) => <KnownTenant seen={seen} close={close} />}
    </Reading>
  );
}

function KnownTenant({ seen: { body: of, tag, again }, close }: { seen: Seen<TenantView>; close: () => void }) {
  const { value, edit, changed, nothing } = useEdits({ description: of.description ?? "" });
  const run = async () => {
    await change(r.tenants.update, { params: { tenantName: of.name }, body: changed, ifMatch: tag });
    await invalidate("tenants");
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

function QuotasOf({ tenant, close }: { tenant: string; close: () => void }) {
  const { data, error, refetch } = useQuery(ask(r.tenantQuotas.list, { params: { tenantName: tenant } }));
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={`${overlay["popup"]} ${overlay["wide"]}`}>
          <Dialog.Title>{t.quotasOf(tenant)}</Dialog.Title>
          {data === undefined && (error === null ? <Skeleton lines={6} /> : <Failure error={error} retry={() => void refetch()} />)}
          {data !== undefined && <QuotaTable quotas={data} tenant={tenant} />}
          <div className={overlay["buttons"]}>
            <Dialog.Close render={<Button />}>{t.close}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
