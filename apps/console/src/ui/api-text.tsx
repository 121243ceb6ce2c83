import { type RequestInput, type RouteRow, requestOf } from "@harrier/client";
import { useQuery } from "@tanstack/react-query";
import { server } from "../api/client.ts";
import { me } from "../api/session.ts";
import { commands as t } from "../text/en.ts";
import { curlOf } from "./api.state.ts";
import style from "./api-text.module.css";
import { CopyButton } from "./copy.tsx";
import { InfoDialog } from "./info-dialog.tsx";

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
    <InfoDialog title={t.title} text={t.text} closeText={t.close} close={close} wide>
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
    </InfoDialog>
  );
}
