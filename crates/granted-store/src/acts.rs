pub enum ActState {Running, Free, Absent}
pub struct Acts;
impl Acts { pub fn new(_: std::path::PathBuf)->Acts{Acts} pub fn begin(&self)->std::io::Result<Box<str>>{Ok("a".into())} pub fn state(&self,_:&str)->ActState{ActState::Running} pub fn keep(&self){} pub fn sweep(&self){} }
