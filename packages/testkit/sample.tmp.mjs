import pg from "pg"; import {readFileSync} from "node:fs";
const [dir,port,n,user]=process.argv.slice(2);
const s=JSON.parse(readFileSync(dir+"/secrets.json"));
const c=new pg.Client({host:"127.0.0.1",port:Number(port),user,password:s.databasePassword,database:"postgres"});
await c.connect();
const k=new Map();
for(let i=0;i<n;i++){const {rows}=await c.query("select usename, left(regexp_replace(query,'\\s+',' ','g'),110) q, coalesce(wait_event,'cpu') w from pg_stat_activity where state='active' and pid<>pg_backend_pid()");
 for(const r of rows){const key=r.usename+' | '+r.w+' | '+r.q;k.set(key,(k.get(key)??0)+1);} await new Promise(r=>setTimeout(r,30));}
for(const [a,b] of [...k].sort((a,b)=>b[1]-a[1]).slice(0,30))console.log(b,a);
console.log((await c.query("select datname, xact_commit, tup_returned, tup_fetched,blks_hit from pg_stat_database where datname like 'harrier%'")).rows);
await c.end();
