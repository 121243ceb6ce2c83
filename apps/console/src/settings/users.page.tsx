import { Dialog } from "@base-ui/react/dialog";
import type { UserView } from "@harrier/contracts";
import { useState } from "react";
import { ask, askSeen, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { SessionsOfUser } from "../me/sessions.tsx";
import { common, sessions, people as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { byNameQuery, FoundList } from "../ui/found-list.tsx";
import type { Column } from "../ui/grid.tsx";
import { TwoLines } from "../ui/listing.tsx";
import overlay from "../ui/overlay.module.css";
import { Remove } from "../ui/remove.tsx";
import { Empty } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { MatrixDialog } from "./matrix.tsx";
import { NewPassword, passwordLeast } from "./new-password.tsx";
import { NewUser } from "./new-user.tsx";

type Open = {
  readonly user: Pick<UserView, "id" | "name"> & { readonly systemManaged?: boolean };
  readonly to: "permissions" | "password" | "sessions";
};

/** The users of the tenant. */
export function Users() {
  const [adding, setAdding] = useState(false);
  const [open, setOpen] = useState<Open>();
  return (
    <>
      <FoundList
        find={t.findUser}
        add={{ label: t.newUser, onClick: () => setAdding(true) }}
        label={t.columns.user}
        columns={columnsOf(setOpen)}
        rowHeight={52}
        rows={(wanted) => ask(r.users.list, { query: { ...byNameQuery(wanted), representation: "full" } })}
        empty={<Empty title={t.usersEmpty} text={t.usersText} />}
      />
      {adding && <NewUser close={() => setAdding(false)} made={(user) => setOpen({ user, to: "permissions" })} />}
      {open?.to === "permissions" && <PermissionsOf {...open.user} close={() => setOpen(undefined)} />}
      {open?.to === "sessions" && <SessionsDialog {...open.user} close={() => setOpen(undefined)} />}
      {open?.to === "password" && <Password {...open.user} close={() => setOpen(undefined)} />}
    </>
  );
}

function columnsOf(open: (what: Open) => void): readonly Column<UserView>[] {
  const removeOf = (userId: number) => async () => {
    await change(r.users.delete, { params: { userId } });
    await invalidate("users");
  };
  return [
    {
      id: "name",
      head: t.columns.user,
      width: "minmax(150px, 1.4fr)",
      sort: "name",
      cell: ({ name, type, systemManaged }) => <TwoLines first={name} second={systemManaged ? t.systemManaged : (t.kinds[type] ?? type)} />,
    },
    { id: "permissions", head: t.columns.permissions, width: "110px", cell: ({ permissions }) => t.total(permissions?.length ?? 0) },
    { id: "changed", head: t.columns.changed, width: "100px", cell: ({ lastModifiedAt }) => <Time at={lastModifiedAt} /> },
    {
      id: "actions",
      head: common.actions,
      width: "320px",
      cell: (user) => (
        <>
          <Button small look="ghost" onClick={() => open({ user, to: "permissions" })}>
            {t.permissions}
          </Button>
          <Button small look="ghost" onClick={() => open({ user, to: "sessions" })}>
            {sessions.title}
          </Button>
          {user.type === "PASSWORD_USER" && (
            <Button small look="ghost" onClick={() => open({ user, to: "password" })}>
              {t.password}
            </Button>
          )}
          <Remove
            name={user.name}
            text={t.deleteUser}
            row={r.users.delete}
            why={user.systemManaged ? t.readOnly : undefined}
            run={removeOf(user.id)}
          />
        </>
      ),
    },
  ];
}

function PermissionsOf({ id, name, systemManaged, close }: Open["user"] & { close: () => void }) {
  const save: Parameters<typeof MatrixDialog>[0]["save"] = async (body, ifMatch) => {
    await change(r.users.setPermissions, { params: { userId: id }, body, ifMatch });
    await invalidate("users", "userinfo");
  };
  return (
    <MatrixDialog
      name={name}
      asked={askSeen(r.users.listPermissions, { params: { userId: id } })}
      why={systemManaged ? t.readOnly : undefined}
      save={save}
      close={close}
    />
  );
}

function Password({ id, name, close }: Open["user"] & { close: () => void }) {
  const [password, setPassword] = useState("");
  const lacking = useLacking(r.users.changePassword);
  const why = lacking ?? (password.length < passwordLeast ? t.passwordShort : undefined);
  const run = () => change(r.users.changePassword, { params: { userId: id }, body: { newPassword: password } });
  return (
    <FormDialog open close={close} title={`${t.newPassword}: ${name}`} text={t.passwordText} button={t.setPassword} why={why} run={run}>
      <NewPassword label={t.newPassword} value={password} onChange={setPassword} autoFocus />
    </FormDialog>
  );
}

function SessionsDialog({ id, name, close }: Open["user"] & { close: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={`${overlay["popup"]} ${overlay["wide"]}`}>
          <Dialog.Title>{sessions.of(name)}</Dialog.Title>
          <SessionsOfUser userId={id} />
          <div className={overlay["buttons"]}>
            <Dialog.Close render={<Button />}>{sessions.close}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
