use eigenlens::*; use ndarray::*; use std::time::Instant;
fn main(){
  let mut s=1u64; let mut r=move||{s^=s<<13;s^=s>>7;s^=s<<17;(s>>11) as f64/(1u64<<53) as f64-0.5};
  for (n,d) in [(1000000usize,100usize),(60000,784),(10000,2000)] {
    let x=Array2::from_shape_simple_fn((n,d),||r()+3.0); let xf=x.mapv(|v|v as f32);
    for th in [1,2]{ let o=Options{threads:Some(th),..Default::default()};
      for _ in 0..3 { let t=Instant::now(); let m=Moments::of(&Dataset::from(&x),&o).unwrap(); let a=t.elapsed(); let t=Instant::now(); let m2=Moments::of(&Dataset::from(&xf),&o).unwrap(); let g=n as f64*d as f64*d as f64/1e9;
       println!("{n}x{d} th{th} f64 {:?} ({:.0} GF/s)  f32 {:?} ({:.0})  {:.3e}",a,g/a.as_secs_f64(),t.elapsed(),g/t.elapsed().as_secs_f64(),(m.covariance()[[1,1]]-m2.covariance()[[1,1]]).abs()); }
    }
    let c=Moments::of(&Dataset::from(&x),&Options::default()).unwrap(); let mu=x.mean_axis(Axis(0)).unwrap(); let (i,j)=(d-1,d/2);
    let direct:f64=x.rows().into_iter().map(|r|(r[i]-mu[i])*(r[j]-mu[j])).sum::<f64>()/(n as f64-1.0);
    println!("check {:e} {:e}",c.covariance()[[i,j]],direct);
  }
}
