import { Dialog } from "@base-ui/react/dialog";
import { type RequestInput, type RouteRow, requestOf } from "@harrier/client";
import { useQuery } from "@tanstack/react-query";
import { server } from "../api/client.ts";
import { me } from "../api/session.ts";
import { commands as t } from "../text/en.ts";
import { curlOf } from "./api.state.ts";
import style from "./api-text.module.css";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy.tsx";
import overlay from "./overlay.module.css";

/** What a page shows, as an operation and as a command. */
export interface ApiText extends RequestInput {
  readonly row: RouteRow;
  readonly command: string;
}

/** The request of a page as text that can be pasted into a ticket or a script. */
export function ApiDialog({ of: { row, command, ...input }, close }: { of: ApiText; close: () => void }) {
  const { data } = useQuery(me);
  const url = new URL(requestOf(row, input).path.replace(/^\//, ""), server).href;
  const texts = [
    [t.command, command],
    [t.curl, curlOf(url, { tenant: data?.tenant ?? "", username: data?.username ?? "" })],
  ] as const;
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={`${overlay["popup"]} ${overlay["wide"]}`}>
          <Dialog.Title>{t.title}</Dialog.Title>
          <Dialog.Description className="muted">{t.text}</Dialog.Description>
          {texts.map(([label, text]) => (
            <div key={label}>
              <div className={style["head"]}>
                <b>{label}</b>
                <CopyButton text={text} label={t.copy(label)} />
              </div>
              <pre className={style["text"]}>
                <code>{text}</code>
              </pre>
            </div>
          ))}
          <div className={overlay["buttons"]}>
            <Dialog.Close render={<Button />}>{t.close}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
